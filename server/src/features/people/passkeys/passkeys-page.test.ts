/** Passkeys in the console, with a real browser and its virtual authenticator. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { launchBrowser } from '../../../../test/browser.ts';
import { freePort, startService } from '../../../../test/service.ts';
import { createPerson, password } from '../../../../test/people/people.ts';

const port = await freePort();
const publicUrl = `http://localhost:${port}`;
const service = await startService({ PORT: String(port), REELFEED_PUBLIC_URL: publicUrl });
const person = await createPerson(service, 'owner');

const { browser, reason } = await launchBrowser();
if (browser !== null) after(() => browser.close());

const authenticator = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

test(
  'somebody adds a passkey, signs out, signs in by it alone, and removes it',
  { skip: reason ?? false, timeout: 180_000 },
  async () => {
    assert.ok(browser !== null);
    const page = await browser.newPage();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: authenticator,
    });
    await page.goto(`${publicUrl}/console/`);
    await page.getByLabel('Email').fill(person.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('navigation').first().waitFor();

    await page.goto(`${publicUrl}/console/#/account`);
    const passkeys = page.getByRole('region', { name: 'Passkeys' });
    const form = passkeys.getByRole('form', { name: 'New passkey' });
    await form.getByLabel('Name of the passkey').fill('Test laptop');
    await form.getByRole('textbox', { name: 'Your password' }).fill(password);
    await form.getByRole('button', { name: 'Add a passkey' }).click();
    await passkeys.getByRole('cell', { name: 'Test laptop' }).waitFor();

    await page.evaluate(() =>
      fetch('/console/session', { method: 'DELETE', headers: { 'x-reelfeed-console': '1' } }),
    );
    await page.goto(`${publicUrl}/console/`);
    await page.reload();
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.click();
    await page.getByRole('navigation').first().waitFor();
    const email = await page.evaluate(async () => {
      const answer = await fetch('/console/account', { headers: { 'x-reelfeed-console': '1' } });
      return ((await answer.json()) as { data: { email: string } | null }).data?.email;
    });
    assert.equal(email, person.email);

    await page.goto(`${publicUrl}/console/#/account`);
    await passkeys.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove the passkey “Test laptop”?' });
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(password);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await passkeys.getByRole('cell', { name: 'Test laptop' }).waitFor({ state: 'detached' });
    assert.equal((await person.call('GET', '/console/account/passkeys')).body.data.length, 0);

    // A person whose device refuses sees a message and can still use their password.
    await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    await page.evaluate(() =>
      fetch('/console/session', { method: 'DELETE', headers: { 'x-reelfeed-console': '1' } }),
    );
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: authenticator,
    });
    await page.goto(`${publicUrl}/console/`);
    await page.reload();
    await button.click();
    await page
      .getByRole('alert')
      .filter({ hasText: 'The browser did not use a passkey' })
      .waitFor();
  },
);
