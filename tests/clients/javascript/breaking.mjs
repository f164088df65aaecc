// Prints what in the new schema breaks clients of the old one: breaking.mjs OLD NEW
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";
import { readFile } from "node:fs/promises";

const [before, after] = await Promise.all(process.argv.slice(2).map((file) => readFile(file, "utf8")));
const changes = await diff(buildSchema(before), buildSchema(after));
const breaking = changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking);
console.log(JSON.stringify(breaking.map(({ message }) => message)));
