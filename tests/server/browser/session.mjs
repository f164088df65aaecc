// Sets a token in one tab of the explorer, and prints what other tabs and a reloaded page have, and the examples.
// usage: node session.mjs CHROMIUM URL TOKEN
import { openPage } from './page.mjs';

const [executablePath, url, token] = process.argv.slice(2);
const { browser, page, errors } = await openPage(executablePath);

const query = page.locator('.graphiql-query-editor .view-lines');
const headers = page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .view-lines');
const response = page.locator('.graphiql-response .view-lines');

await page.goto(`${url}/explorer?query=${encodeURIComponent('query Me { viewer { username } }')}`);
await query.filter({ hasText: 'viewer' }).waitFor();
await headers.filter({ hasText: 'Bearer TOKEN' }).click();
await page.keyboard.press('Control+A');
await page.keyboard.insertText(`{"Authorization": "Bearer ${token}"}`);
await page.keyboard.press('Control+Shift+End'); // quotes and brackets that the editor has closed
await page.keyboard.press('Delete');
const answers = [await run()];

const examples = {};
const seen = {};
for (const name of ['NewestInShow', 'FrontPage', 'Vote']) {
  examples[name] = await open(name);
  seen[name] = await plain(headers);
}
await page.locator('.graphiql-tab-add').click();
await stored('');
seen.new = await plain(headers);
await open('Me');
answers.push(await run());

await page.goto(`${url}/explorer`);
await query.filter({ hasText: 'viewer' }).waitFor();
seen.reloaded = await plain(headers);
answers.push(await run());
const kept = await open('Vote');
seen.otherReloaded = await plain(headers);

await page.evaluate(() => {
  const stored = (key) => localStorage.getItem(key).replaceAll(/article:\d+/g, 'article:1');
  for (const key of ['graphiql:tabState', 'upvote:examples', 'graphiql:query']) localStorage.setItem(key, stored(key));
});
await page.goto(`${url}/explorer`); // as if the store had changed
const renewed = await open('Vote');
await browser.close();
console.log(JSON.stringify({ answers, examples, seen, kept, renewed, errors }));

async function run() {
  const answered = page.waitForResponse((each) => each.request().postData()?.includes('query Me'));
  await page.locator('.graphiql-execute-button').click();
  const answer = await (await answered).json();
  await response.filter({ hasText: '}' }).waitFor();
  return answer;
}

async function open(name) {
  await page.locator('.graphiql-tab', { hasText: name }).click();
  await query.filter({ hasText: name }).waitFor();
  await stored(name);
  return plain(query);
}

/** GraphiQL takes over the operation of another tab, and stores its tabs, some time after the editor shows it. */
async function stored(name) {
  await page.waitForFunction((name) => {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState'));
    const { query, operationName } = tabs[activeTabIndex];
    return name ? query?.includes(name) && operationName === name : !query;
  }, name);
}

async function plain(editor) {
  return (await editor.innerText()).replaceAll('\u00a0', ' ');
}
