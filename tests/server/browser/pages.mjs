// Presses "More" in the front end of docs/frontend.md until it is gone, and prints the list after each time.
// usage: node pages.mjs CHROMIUM URL
import { openPage } from './page.mjs';

const [executablePath, url] = process.argv.slice(2);
const { browser, page, errors } = await openPage(executablePath);

const items = page.locator('li');
const lists = [];
await page.goto(url);
await items.first().waitFor();
lists.push(await items.allInnerTexts());
while (await page.getByRole('button', { name: 'More' }).isVisible()) {
  await page.getByRole('button', { name: 'More' }).click();
  await items.nth(lists.at(-1).length).waitFor();
  lists.push(await items.allInnerTexts());
}
await browser.close();
console.log(JSON.stringify({ lists, errors }));
