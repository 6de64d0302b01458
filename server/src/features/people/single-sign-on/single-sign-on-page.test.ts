/** The redirects to the provider and back in a real browser, with its cookie rules. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { launchBrowser } from '../../../../test/browser.ts';
import { freePort, startService } from '../../../../test/service.ts';
import { clientId, clientSecret, startProvider } from '../../../../test/people/oidc-provider.ts';

const provider = await startProvider();
const port = await freePort();
// With different host names, the provider is a different site, as in production.
const publicUrl = `http://localhost:${port}`;
provider.redirectUris.push(`${publicUrl}/console/account/oidc/callback`);
await startService({
  PORT: String(port),
  REELFEED_PUBLIC_URL: publicUrl,
  REELFEED_OIDC_ISSUER: provider.issuer,
  REELFEED_OIDC_CLIENT_ID: clientId,
  REELFEED_OIDC_CLIENT_SECRET: clientSecret,
  REELFEED_OIDC_NAME: 'Example ID',
  REELFEED_OIDC_DOMAINS: 'example.com',
  REELFEED_OIDC_DEFAULT_ROLE: 'editor',
  REELFEED_OIDC_ONLY: 'on',
});
provider.accounts.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada' });

const { browser, reason } = await launchBrowser();
if (browser !== null) after(() => browser.close());

test(
  'the button leads to the provider and back into the console; a refusal is told',
  { skip: reason ?? false, timeout: 120_000 },
  async () => {
    assert.ok(browser !== null);
    const page = await browser.newPage();
    await page.goto(`${publicUrl}/console/`);
    const button = page.getByRole('button', { name: 'Sign in with Example ID' });
    await button.click();
    await page
      .getByRole('alert')
      .filter({ hasText: 'The provider rejected the sign-in' })
      .waitFor();
    assert.equal(await page.getByLabel('Email').count(), 0, 'passwords are closed');
    provider.browserSubject = 'ada';
    await button.click();
    await page.getByRole('navigation').first().waitFor();
    const account = await page.evaluate(async () => {
      const answer = await fetch('/console/account', { headers: { 'x-reelfeed-console': '1' } });
      return ((await answer.json()) as { data: { email: string; role: string } }).data;
    });
    assert.deepEqual([account.email, account.role], ['ada@example.com', 'editor']);
    const names = (await page.context().cookies(`${publicUrl}/console/account/oidc/callback`)).map(
      ({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }),
    );
    assert.deepEqual(
      names.filter(({ name }) => name.startsWith('reelfeed')),
      [{ name: 'reelfeed_session', httpOnly: true, sameSite: 'Strict' }],
    );
  },
);
