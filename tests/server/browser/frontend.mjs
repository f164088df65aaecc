// Uses the front end of docs/frontend.md as a person would, and prints what was seen.
// The articles Third, Second, First and "Of 2016" are posted, the last one so long ago that it takes no votes.
// URL is that of the page, SERVER that of Upvote, OTHER_TOKEN the token of the poster of Second.
// usage: node frontend.mjs CHROMIUM URL SERVER OTHER_TOKEN
import { openPage } from './page.mjs';

const [executablePath, url, server, otherToken] = process.argv.slice(2);
const { browser, page, errors } = await openPage(executablePath);

const sockets = [];
page.on('websocket', (socket) => new URL(socket.url()).pathname === '/graphql' && sockets.push(socket));

const item = (title) => page.locator('li', { hasText: title });
const shows = (title, votes) => page.locator('li', { hasText: `${votes} ${title}` }).waitFor();
const alert = () => page.locator('[role=alert]').innerText();
const token = () => page.evaluate(() => sessionStorage.getItem('upvote-token'));

async function logIn(password) {
  await page.getByPlaceholder('Name').fill('visitor');
  await page.getByPlaceholder('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

async function ask(bearer, query, variables) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` };
  return (await fetch(`${server}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })).json();
}

/** Votes, and returns what the article shows before, and while the request is held back. */
async function voteFor(title) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route('**/graphql', async (route) => {
    await released;
    await route.continue();
  });
  const answered = page.waitForResponse('**/graphql');
  const before = await item(title).innerText();
  await item(title).getByRole('button').click();
  await page.waitForFunction(([title, before]) => {
    const found = [...document.querySelectorAll('li')].find(({ innerText }) => innerText.includes(title));
    return found.innerText !== before;
  }, [title, before]);
  const meanwhile = await item(title).innerText();
  release();
  await answered;
  await page.unroute('**/graphql');
  return [before, meanwhile];
}

await page.goto(url);
await logIn('wrong horse');
const refusedLogIn = await alert();
await logIn('correct horse');
await page.getByRole('button', { name: 'Log out' }).waitFor();

const first = await page.locator('li').allInnerTexts();
await page.getByRole('button', { name: 'More' }).click();
await item('First').waitFor();
const joined = await page.locator('li').allInnerTexts();

const good = await voteFor('Third');
await shows('Third', 2);
const closed = await voteFor('Of 2016');
const refusedVote = await alert();
await shows('Of 2016', 1);

const [{ id }] = (await ask(otherToken, '{ viewer { articles { nodes { id title } } } }')).data.viewer.articles.nodes.filter(
  ({ title }) => title === 'Second',
);
await ask(await token(), 'mutation ($id: ID!) { vote(input: { articleId: $id }) { changed } }', { id });
await shows('Second', 2);

await page.getByLabel('Link').fill('nowhere');
await page.getByRole('button', { name: 'Post' }).click();
await page.locator('em').first().waitFor();
const problems = await page.locator('label').allInnerTexts();
await page.getByLabel('Title').fill('Posted here');
await page.getByLabel('Link').fill('https://example.com/');
await page.getByRole('button', { name: 'Post' }).click();
await item('Posted here').waitFor();

await page.reload();
await page.getByRole('button', { name: 'Log out' }).waitFor();
await ask(await token(), 'mutation { logOut { userErrors { code } } }');
await item('Posted here').getByRole('button').click();
await page.getByPlaceholder('Name').waitFor();

const seen = {
  refusedLogIn,
  first,
  joined,
  good,
  closed,
  refusedVote,
  problems,
  token: await token(),
  sockets: [...new Set(sockets.map((socket) => socket.url()))],
  errors,
};
await browser.close();
console.log(JSON.stringify(seen));
