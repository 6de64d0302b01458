import { defineErrors } from '../../platform/http/errors.ts';

export const peopleErrors = defineErrors({
  SIGN_IN_FAILED: {
    status: 401,
    message: 'The email address or the password is wrong.',
    advice: 'The answer is the same for an address without an account.',
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: 'This account needs a code of its authenticator app, or a recovery code.',
    advice: 'Send the same request with `code`.',
  },
  SECOND_FACTOR_FAILED: { status: 401, message: 'The code is wrong, or was used before.' },
  PASSKEY_FAILED: {
    status: 401,
    message: 'This passkey does not sign in here, or the sign-in took over five minutes.',
    advice: 'Begin again, or sign in with the password. The log says what was wrong.',
  },
  PASSKEY_REFUSED: {
    status: 400,
    message:
      'What the browser sent for the passkey is not valid, was used before, or took over five minutes.',
    advice: 'Begin again. The address of the page must be that of `REELFEED_PUBLIC_URL`.',
  },
  LINK_OVER: {
    status: 404,
    message: 'This link was used before, was withdrawn, or is over.',
    advice: 'Ask for a new one.',
  },
  KEY_SIGN_IN_CLOSED: {
    status: 403,
    message: 'People of this organization have accounts: sign in with yours.',
    advice:
      'Secret keys sign in to the console only until an organization has its first owner, unless ' +
      '`REELFEED_CONSOLE_KEY_SIGN_IN` is `always`.',
  },
  PASSWORD_SIGN_IN_CLOSED: {
    status: 403,
    message: 'People sign in by single sign-on alone.',
    advice: 'The operator decides that by `REELFEED_OIDC_ONLY`.',
  },
  SINGLE_SIGN_ON_UNREACHABLE: {
    status: 502,
    message: 'The provider of single sign-on does not answer as it should.',
    advice: 'Look at `REELFEED_OIDC_ISSUER`, and whether this server reaches it.',
  },
  SINGLE_SIGN_ON_STATE: {
    status: 400,
    message:
      'This sign-in was not begun in this browser, was used before, or took over ten minutes.',
    advice: 'Begin again on the sign-in page.',
  },
  SINGLE_SIGN_ON_REFUSED: {
    status: 403,
    message: 'The provider of single sign-on has refused the sign-in, or it was broken off there.',
  },
  SINGLE_SIGN_ON_INVALID: {
    status: 502,
    message: 'What the provider of single sign-on sent is not valid.',
    advice:
      'The log says what was wrong: signature, issuer, audience, nonce, or a clock that is more than a ' +
      'minute off. Look at the client id and the secret.',
  },
  SINGLE_SIGN_ON_EMAIL: {
    status: 403,
    message: 'The provider of single sign-on names no email address that it has verified.',
    advice: 'See `REELFEED_OIDC_EMAILS` for providers that do not verify addresses.',
  },
  SINGLE_SIGN_ON_DOMAIN: {
    status: 403,
    message: 'Addresses of this domain do not sign in here.',
    advice: 'The operator lists the domains in `REELFEED_OIDC_DOMAINS`.',
  },
  SINGLE_SIGN_ON_ROLE: {
    status: 403,
    message: 'None of your groups has a role here.',
    advice: 'The operator maps them in `REELFEED_OIDC_ROLES`.',
  },
  SINGLE_SIGN_ON_ACCOUNT: {
    status: 403,
    message: 'This address has no account here, and no invitation.',
    advice: 'Ask an admin of the organization for an invitation.',
  },
  SINGLE_SIGN_ON_OTHER: {
    status: 409,
    message: 'The account of this address belongs to somebody else at the provider.',
    advice: 'The address may have been given to another person. Remove the account first.',
  },
  LAST_OWNER: {
    status: 409,
    message: 'This is the last owner. Make somebody else an owner first.',
  },
});
