import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: "../schema/schema.graphql",
  documents: "src/**/*.{ts,tsx}",
  generates: {
    "src/gql/": {
      preset: "client",
      presetConfig: { fragmentMasking: { unmaskFunctionName: "readFragment" } },
      config: {
        defaultScalarType: "string",
        enumsAsTypes: true,
        useTypeImports: true,
        scalars: { ID: "string" },
      },
    },
  },
  silent: true,
};

export default config;
