/** Sign-in through the single sign-on provider, and reasons for rejection. */
import { Alert, Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { Failed } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

export type SingleSignOn = { name: string; isOnly: boolean };

/** Redirects to the provider, which redirects back to the console. */
export function SingleSignOnButton({ name }: SingleSignOn): ReactNode {
  const start = useMutation({
    mutationFn: () => askAccount<{ url: string }>('POST', '/oidc/start'),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      <Failed error={start.error} />
      <Button
        variant="default"
        loading={start.isPending || start.isSuccess}
        onClick={() => start.mutate()}
      >
        {t('Sign in with {name}', { name })}
      </Button>
    </>
  );
}

const texts: Readonly<Record<string, string>> = {
  SINGLE_SIGN_ON_STATE: t(
    'This sign-in was not started in this browser, was already used, or took more than ten minutes. Start again.',
  ),
  SINGLE_SIGN_ON_REFUSED: t('The provider rejected the sign-in, or it was cancelled there.'),
  SINGLE_SIGN_ON_UNREACHABLE: t('The provider does not respond as expected. Try again later.'),
  SINGLE_SIGN_ON_INVALID: t(
    'The response of the provider is not valid. See the log of the service for details.',
  ),
  SINGLE_SIGN_ON_EMAIL: t('The provider returned no verified email address.'),
  SINGLE_SIGN_ON_DOMAIN: t('People with an email address of this domain cannot sign in here.'),
  SINGLE_SIGN_ON_ROLE: t('None of your groups has a role here. Ask your administrator.'),
  SINGLE_SIGN_ON_ACCOUNT: t(
    'This address has no account here. Ask an admin of the organization for an invitation.',
  ),
  SINGLE_SIGN_ON_OTHER: t(
    'The account with this address belongs to a different person at the provider. Ask an admin to remove it first.',
  ),
  RATE_LIMITED: t('Too many attempts. Try again later.'),
};

/** Why the provider's response was rejected. The address contains only a code, never text. */
export function Refusal({ code }: { code: string | null }): ReactNode {
  if (code === null) return null;
  return (
    <Alert color="red" role="alert">
      {texts[code] ?? t('The sign-in did not work. Try again.')}
    </Alert>
  );
}
