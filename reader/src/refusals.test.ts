import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildSchema,
  getNamedType,
  isEnumType,
  isObjectType,
  parse,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
} from "graphql";
import { expect, test } from "vitest";
import { operationsOf } from "../build/documents";
import { explainRefusal } from "./errors";
import { addTexts, hasText } from "./words";

const READER = join(import.meta.dirname, "..");
const SCHEMA = buildSchema(readFileSync(join(READER, "../schema/schema.graphql"), "utf8"));

/** How many mutations of a document can be refused, and how many selections of refusals are `...Refused` or a part. */
function refusalsIn(document: DocumentNode) {
  const types = new TypeInfo(SCHEMA);
  const found = { mutations: 0, whole: 0, parts: 0 };
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ selectionSet }) {
        const type = getNamedType(types.getType());
        if (types.getParentType() === SCHEMA.getMutationType() && isObjectType(type) && type.getFields().userErrors)
          found.mutations++;
        if (type?.name !== "UserError") return;
        const [only, ...others] = selectionSet?.selections ?? [];
        if (only?.kind === "FragmentSpread" && only.name.value === "Refused" && others.length === 0) found.whole++;
        else found.parts++;
      },
    }),
  );
  return found;
}

test("each mutation asks for all that says why it was refused", () => {
  const mutations = operationsOf(join(READER, "src"))
    .map((text) => parse(text))
    .map((document): [string, ReturnType<typeof refusalsIn>] => [
      Object.keys(separateOperations(document))[0] ?? "",
      refusalsIn(document),
    ])
    .filter(([, { mutations }]) => mutations > 0);

  const lacking = mutations.filter(([, { mutations, whole, parts }]) => parts > 0 || whole < mutations);
  expect(lacking.map(([name]) => name)).toEqual([]);
  expect(mutations.length).toBeGreaterThan(40); // else the documents were not found
});

test("each code of a refusal has a text", () => {
  const codes = SCHEMA.getType("UserErrorCode");
  const names = isEnumType(codes) ? codes.getValues().map(({ name }) => name) : [];
  const own = ["RATE_LIMITED", "UNAUTHENTICATED"]; // their texts say when and what to do

  expect(names).toEqual(expect.arrayContaining(own));
  const others = names.filter((name) => !own.includes(name));
  expect(others.filter((name) => !hasText(`refused-${name.toLowerCase().replaceAll("_", "-")}`))).toEqual([]);
});

test("a refusal by a rule says its numbers in the language of the page", () => {
  addTexts(readFileSync(join(READER, "../server/words/de.ftl"), "utf8")); // for the rest of this file
  const params = [
    { name: "least_age_days", value: "3" },
    { name: "least_karma", value: "0" },
  ];

  expect(explainRefusal({ code: "RULE", rule: "votes", message: "an account votes after 3 days", params })).toBe(
    "Zum Abstimmen braucht es ein Konto, das mindestens 3 Tage alt ist.",
  );
});
