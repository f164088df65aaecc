// Prints what in a schema breaks a rule of GraphQL ESLint: lint.mjs SCHEMA
import graphql from "@graphql-eslint/eslint-plugin";
import { ESLint } from "eslint";
import { basename, dirname } from "node:path";

// Types without an id: the errors that mutations return, and values that belong to what shows them.
const REFUSALS = ["Refusal", "VotingClosed", "RateLimited"];
const VALUES = ["Change", "ChangePage", "ChangedField", "Flag", "PageInfo", "RankingChange", "RankingMove", "RateLimit", "RoleGrant", "Session", "Standing", "StandingTerm"];
const RULES = {
  ...graphql.configs["flat/schema-recommended"].rules,
  ...graphql.configs["flat/schema-relay"].rules,
  "@graphql-eslint/no-typename-prefix": "off", // `User.username` is the word for it
  "@graphql-eslint/relay-edge-types": [
    "error",
    { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false }, // `nodes`, besides `edges`
  ],
  "@graphql-eslint/strict-id-in-types": [
    "error",
    { exceptions: { types: [...VALUES, ...REFUSALS], suffixes: ["Connection", "Edge", "Payload"] } },
  ],
};

const [path] = process.argv.slice(2);
const config = {
  files: ["*.graphql"],
  languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: path } } },
  plugins: { "@graphql-eslint": graphql },
  rules: RULES,
};
const eslint = new ESLint({ cwd: dirname(path), overrideConfigFile: true, overrideConfig: config });
const [{ messages }] = await eslint.lintFiles([basename(path)]);
console.log(JSON.stringify(messages.map(({ line, message, ruleId }) => [ruleId, `line ${line}: ${message}`])));
