// A page in Chromium, with the errors and warnings that it logs.
import { chromium } from 'playwright-core';

export async function openPage(executablePath) {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const errors = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  return { browser, page, errors };
}
