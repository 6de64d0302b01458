import sharp from 'sharp';
import { launchBrowser } from './browser.ts';
const [link = '', out = '/tmp/rn/shots', only = ''] = process.argv.slice(2);
const { browser, reason } = await launchBrowser();
if (browser === null) throw new Error(reason);
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', colorScheme: 'light', locale: 'en-US' });
const page = await context.newPage();
page.setDefaultTimeout(60000);
await page.goto(link);
await page.getByRole('heading', { level: 1 }).first().waitFor();
const views = (only || 'overview,reports,content,content/calendar,content/uploads,live,feed,experiments,webhooks,alerts,exports,settings,keys,audit,system,people,journeys,jobs,metrics,viewers,purges').split(',');
for (const width of [1440, 768, 390]) {
  await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
  for (const view of views) {
    await page.evaluate((hash) => { location.hash = '/' + hash; }, view);
    await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null).catch(() => 0);
    await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => 0);
    const over = await page.evaluate(() => {
      const wide = document.documentElement.scrollWidth > innerWidth ? [`PAGE ${document.documentElement.scrollWidth}`] : [];
      const inner = [...document.querySelectorAll('main *')].filter((e) => { const r = e.getBoundingClientRect(); if (r.width === 0 || r.right <= innerWidth + 1) return false; for (let p = e.parentElement; p; p = p.parentElement) { const o = getComputedStyle(p).overflowX; if (o === 'auto' || o === 'scroll' || o === 'hidden') return false; } return true; }).slice(0, 3).map((e) => `${e.tagName}.${String(e.className).slice(0, 50)} ${(e.textContent ?? '').slice(0, 30)}`);
      const scrollers = [...document.querySelectorAll('main *')].filter((e) => e.scrollWidth > e.clientWidth + 2 && ['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX) && e.clientWidth > 100).slice(0, 4).map((e) => `scroll:${e.tagName}.${String(e.className).slice(0, 40)} ${e.clientWidth}<${e.scrollWidth}`);
      return [...wide, ...inner, ...scrollers];
    });
    console.log(width, view, await page.locator('main h1').first().textContent().catch(() => 'NO H1'), JSON.stringify(over));
    for (const scheme of (width === 768 ? ['light'] : ['light', 'dark']) as ('light' | 'dark')[]) {
      await page.emulateMedia({ colorScheme: scheme });
      const shot = await page.screenshot({ timeout: 60000 });
      await sharp(shot).resize({ width: Math.min(width, 480) }).toFile(`${out}/${view.replace('/', '-')}-${width}-${scheme}.png`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
}
await browser.close();
