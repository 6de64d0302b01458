import { defineErrors } from '../../platform/http/errors.ts';

export const peopleErrors = defineErrors({
  SIGN_IN_FAILED: {
    status: 401,
    message: 'The email address or the password is wrong.',
    advice: 'The response is the same for an address without an account.',
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: 'This account requires a code from its authenticator app, or a recovery code.',
    advice: 'Send the same request with `code`.',
  },
  SECOND_FACTOR_FAILED: { status: 401, message: 'The code is wrong or has already been used.' },
  PASSKEY_FAILED: {
    status: 401,
    message: 'This passkey is not accepted here, or the sign-in took more than five minutes.',
    advice: 'Start again, or sign in with the password. The log gives the reason.',
  },
  PASSKEY_REFUSED: {
    status: 400,
    message:
      'The passkey response of the browser is invalid, was already used, or took more than five minutes.',
    advice: 'Start again. The address of the page must match `REELFEED_PUBLIC_URL`.',
  },
  LINK_OVER: {
    status: 404,
    message: 'This link has been used, withdrawn, or has expired.',
    advice: 'Ask for a new one.',
  },
  KEY_SIGN_IN_CLOSED: {
    status: 403,
    message: 'People in this organization have accounts. Sign in with yours.',
    advice:
      'Secret keys sign in to the console only until an organization has its first owner, unless ' +
      '`REELFEED_CONSOLE_KEY_SIGN_IN` is `always`.',
  },
  PASSWORD_SIGN_IN_CLOSED: {
    status: 403,
    message: 'Only single sign-on is allowed.',
    advice: 'The operator sets this with `REELFEED_OIDC_ONLY`.',
  },
  SINGLE_SIGN_ON_UNREACHABLE: {
    status: 502,
    message: 'The single sign-on provider does not respond as expected.',
    advice: 'Check `REELFEED_OIDC_ISSUER` and whether this server can reach it.',
  },
  SINGLE_SIGN_ON_STATE: {
    status: 400,
    message:
      'This sign-in was not started in this browser, was already used, or took more than ten minutes.',
    advice: 'Begin again on the sign-in page.',
  },
  SINGLE_SIGN_ON_REFUSED: {
    status: 403,
    message: 'The single sign-on provider rejected the sign-in, or it was cancelled there.',
  },
  SINGLE_SIGN_ON_INVALID: {
    status: 502,
    message: 'The response of the single sign-on provider is not valid.',
    advice:
      'The log gives the reason: signature, issuer, audience, nonce, or a clock that is more than a ' +
      'minute off. Check the client id and the secret.',
  },
  SINGLE_SIGN_ON_EMAIL: {
    status: 403,
    message: 'The single sign-on provider did not send a verified email address.',
    advice: 'See `REELFEED_OIDC_EMAILS` for providers that do not verify addresses.',
  },
  SINGLE_SIGN_ON_DOMAIN: {
    status: 403,
    message: 'People with an email address of this domain cannot sign in here.',
    advice: 'The operator lists the domains in `REELFEED_OIDC_DOMAINS`.',
  },
  SINGLE_SIGN_ON_ROLE: {
    status: 403,
    message: 'None of your groups has a role here.',
    advice: 'The operator maps groups to roles in `REELFEED_OIDC_ROLES`.',
  },
  SINGLE_SIGN_ON_ACCOUNT: {
    status: 403,
    message: 'This address has neither an account nor an invitation here.',
    advice: 'Ask an admin of the organization for an invitation.',
  },
  SINGLE_SIGN_ON_OTHER: {
    status: 409,
    message: 'The account with this address belongs to a different person at the provider.',
    advice: 'The address may have been reassigned. Remove the account first.',
  },
  LAST_OWNER: {
    status: 409,
    message: 'This is the last owner. Make another person an owner first.',
  },
});
