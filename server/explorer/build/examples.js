// The examples, with an article, a group and a day that the store has.
import texts from './examples.graphql';

// Keys of localStorage: the examples as they were filled last, and two of GraphiQL.
const KEY = 'upvote:examples';
const TABS = 'graphiql:tabState';
const QUERY = 'graphiql:query';
const SECONDS = 3; // in which the store has to answer

const EXISTING = `query Examples {
  newest: articles(order: TIME, first: 1) { nodes { ...Names } }
  highest: articles(first: 1) { nodes { ...Names } }
  frontPage(first: 1) { nodes { postedAt } }
}
fragment Names on Article { id postedAt groups { name } }`;

// The queries of examples.graphql, one for each tab, with ids and names of the store in place of those in the file.
export async function examples(url) {
  const { newest, highest, frontPage } = await existing(url);
  const article = newest?.nodes[0] ?? highest?.nodes[0]; // a store need not have all orders
  const day = (frontPage?.nodes[0] ?? article)?.postedAt.slice(0, 10);
  const filled = texts
    .replaceAll('article:1541', article?.id ?? 'article:1541')
    .replaceAll('"show"', `"${article?.groups[0]?.name ?? 'show'}"`)
    .replace('2016-08-04', day ?? new Date().toISOString().slice(0, 10))
    .trim()
    .split('\n\n');
  replaceStored(filled);
  return filled;
}

// Nothing is known of a store that is empty, or of a server that executes trusted documents only.
async function existing(url) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: EXISTING }),
      signal: AbortSignal.timeout(SECONDS * 1000),
    });
    return (await response.json()).data ?? {};
  } catch {
    return {};
  }
}

// GraphiQL keeps its tabs. Examples that nobody has edited follow the store: a demo has a new one at each start.
function replaceStored(filled) {
  const before = JSON.parse(localStorage.getItem(KEY) ?? '[]');
  const renewed = (query) => filled[before.indexOf(query)] ?? query;
  const state = JSON.parse(localStorage.getItem(TABS) ?? 'null');
  if (Array.isArray(state?.tabs)) {
    const tabs = state.tabs.map((tab) => ({ ...tab, query: renewed(tab.query) }));
    localStorage.setItem(TABS, JSON.stringify({ ...state, tabs }));
  }
  const query = localStorage.getItem(QUERY);
  if (query !== null) localStorage.setItem(QUERY, renewed(query));
  localStorage.setItem(KEY, JSON.stringify(filled));
}
