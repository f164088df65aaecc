// The page: GraphiQL and its plugins, over HTTP for queries and mutations, graphql-transport-ws for subscriptions.
import 'monaco-graphql/esm/monaco-editor.js'; // imported here, so that the editor's styles come with the page's
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-explorer/style.css';
import 'graphiql/graphiql.css';
import './explorer.css';

import { DOC_EXPLORER_PLUGIN } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { createRoot } from 'react-dom/client';
import { examples } from './examples.js';
import { SharedHeaders, headers } from './headers.jsx';

// `build.mjs` defines WORKERS: the file of each worker, by the label that the editor asks for.
globalThis.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(new URL(WORKERS[label] ?? WORKERS.editor, import.meta.url), { type: 'module' }),
};

const root = document.getElementById('explorer');
const url = new URL(root.dataset.endpoint, location);
const socket = new URL(url);
socket.protocol = url.protocol.replace('http', 'ws');

const asked = new URLSearchParams(location.search);
const query = asked.get('query') ?? undefined;
const variables = asked.get('variables') ?? undefined;
const tabs = (await examples(url)).map((example) => ({ query: example }));
if (query) tabs.unshift({ query, variables });

createRoot(root).render(
  <GraphiQL
    fetcher={createGraphiQLFetcher({ url: url.href, subscriptionUrl: socket.href, enableIncrementalDelivery: false })}
    plugins={[HISTORY_PLUGIN, explorerPlugin()]}
    visiblePlugin={DOC_EXPLORER_PLUGIN}
    initialQuery={query}
    initialVariables={variables}
    initialHeaders={headers()}
    defaultTabs={tabs}
    defaultHeaders={headers()}
    defaultEditorToolsVisibility="headers"
    showPersistHeadersSettings={false}
    schemaDescription
  >
    <GraphiQL.Logo>
      <SharedHeaders />
      Upvote
    </GraphiQL.Logo>
  </GraphiQL>,
);
