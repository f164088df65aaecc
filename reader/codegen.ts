// Settings of graphql-codegen. It reads the printed schema and the GraphQL documents in the sources, and generates
// src/gql: the types of what each document takes and returns.
import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: "../schema/schema.graphql",
  documents: "src/**/*.{ts,tsx}",
  generates: {
    "src/gql/": {
      preset: "client",
      // A component sees only the fields of its own fragment, which it reads by `readFragment`.
      presetConfig: { fragmentMasking: { unmaskFunctionName: "readFragment" } },
      config: {
        defaultScalarType: "string", // instants and links, too, come as strings
        enumsAsTypes: true,
        useTypeImports: true,
        scalars: { ID: "string" },
      },
    },
  },
  silent: true,
};

export default config;
