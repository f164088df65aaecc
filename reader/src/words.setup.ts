// The unit tests speak English.
import { readFileSync } from "node:fs";
import { addTexts } from "./words";

addTexts(readFileSync("../server/words/en.ftl", "utf8")); // from the folder of the reader, where they run
