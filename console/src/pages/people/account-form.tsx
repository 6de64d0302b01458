/** Sign-in with an account: address, password, and a code if the account has a second factor. */
import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { ReelfeedError } from '@reelfeed/client/session';
import { useState, type FormEvent, type ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { formPassword, formText } from '../../form-text.ts';
import { sessionBegun, tellOtherTabs } from '../../session.ts';
import { t } from '../../texts/texts.ts';
import type { SingleSignOn } from './single-sign-on.tsx';

/** Public information for the sign-in page. */
export type Door = {
  hasPeople: boolean;
  hasMail: boolean;
  hasPasskeys: boolean;
  singleSignOn: SingleSignOn | null;
};

/** `signedIn` is awaited before continuing. */
export function AccountForm({
  signedIn,
  hasMail,
}: {
  signedIn: () => Promise<void>;
  hasMail: boolean;
}): ReactNode {
  const [error, setError] = useState<string | null>(null);
  const [needsCode, setNeedsCode] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    const code = formText(form, 'code');
    setWaiting(true);
    setError(null);
    try {
      await askAccount('POST', '/sign-in', {
        email: formText(form, 'email'),
        password: formPassword(form),
        ...(code !== '' && { code }),
      });
      tellOtherTabs('begun');
      await signedIn();
      sessionBegun();
    } catch (failure) {
      const isAsked = failure instanceof ReelfeedError && failure.code === 'SECOND_FACTOR_REQUIRED';
      if (isAsked) setNeedsCode(true);
      else setError((failure as Error).message);
    }
    setWaiting(false);
  };
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void submit(event.currentTarget);
  };
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <TextInput
          name="email"
          type="email"
          label={t('Email')}
          autoComplete="username"
          required
          data-autofocus
        />
        <PasswordInput
          name="password"
          label={t('Password')}
          autoComplete="current-password"
          required
          error={error}
        />
        {needsCode && (
          <TextInput
            name="code"
            label={t('Code')}
            description={t('From your authenticator app, or a recovery code.')}
            autoComplete="one-time-code"
            required
            autoFocus
          />
        )}
        <Button type="submit" loading={isWaiting}>
          {t('Sign in')}
        </Button>
        <Forgotten hasMail={hasMail} />
      </Stack>
    </form>
  );
}

function Forgotten({ hasMail }: { hasMail: boolean }): ReactNode {
  return hasMail ? (
    <Anchor href="#/new-password" size="sm">
      {t('I forgot my password')}
    </Anchor>
  ) : (
    <Text size="sm" c="dimmed">
      {t('Forgot your password? The operator creates a new link with')}{' '}
      <code>reelfeed people reset</code>.
    </Text>
  );
}
