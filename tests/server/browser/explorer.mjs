// Runs one query in the explorer, as a person would, and prints what was seen.
// usage: node explorer.mjs CHROMIUM URL QUERY
import { openPage } from './page.mjs';

const [executablePath, url, query] = process.argv.slice(2);
const { browser, page, errors } = await openPage(executablePath);

const otherHosts = [];
await page.route(
  (address) => address.origin !== new URL(url).origin && address.protocol !== 'data:',
  (route) => {
    otherHosts.push(route.request().url());
    return route.abort();
  },
);

await page.goto(`${url}/explorer?query=${encodeURIComponent(query)}`);
const documentation = page.locator('.graphiql-doc-explorer', { hasText: 'Root Types' });
const response = page.locator('.graphiql-response .view-lines', { hasText: '}' });
await page.locator('.graphiql-query-editor .view-lines', { hasText: 'query' }).waitFor();
await documentation.waitFor();
await page.locator('.graphiql-execute-button').click();
await response.waitFor();

const seen = {
  title: await page.title(),
  tabs: await page.locator('.graphiql-tab').allInnerTexts(),
  documentation: await documentation.innerText(),
  response: await response.innerText(),
  otherHosts,
  errors,
};
await browser.close();
console.log(JSON.stringify(seen));
