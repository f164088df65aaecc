// Presses "More" until it is gone, and prints the list after each time.
// usage: node pages.mjs CHROMIUM URL
import { chromium } from 'playwright-core';

const [executablePath, url] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
const page = await browser.newPage();
page.setDefaultTimeout(60_000);

const errors = [];
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()));
page.on('pageerror', (error) => errors.push(error.message));

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
