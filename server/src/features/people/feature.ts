import { choice, duration, integer } from '../../platform/settings/config-values.ts';
import { inBatches } from '../../platform/database/batches.ts';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { setting } from '../../platform/settings/settings.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { SendMail } from '../webhooks/webhooks.ts';
import { addAccountRoutes } from './account-routes.ts';
import { deleteOldAttempts } from './attempt-queries.ts';
import { createAttempts, perAccount } from './attempts.ts';
import { addDoorRoutes } from './door-routes.ts';
import { peopleErrors } from './errors.ts';
import { deleteOldInvitations } from './invitation-queries.ts';
import { addInvitationRoutes } from './invitation-routes.ts';
import { mailHandlers } from './mail-jobs.ts';
import { auditedMember } from './members.ts';
import { relyingPartyOf } from './passkeys/ceremony.ts';
import { deleteOldCeremonies } from './passkeys/queries.ts';
import { addPasskeyRoutes } from './passkeys/routes.ts';
import { addPeopleRoutes } from './people-routes.ts';
import { hasOwner } from './queries.ts';
import { lowestRole } from './roles.ts';
import { addSessionRoutes } from './session-routes.ts';
import { createPersonSessions } from './sessions.ts';
import { deleteOldStarts } from './single-sign-on/queries.ts';
import { addSingleSignOnRoutes } from './single-sign-on/routes.ts';
import { singleSignOnSettings, toSingleSignOn } from './single-sign-on/settings.ts';

type Parts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  vault: Vault;
  publicUrl: string;
  sendMail: SendMail | null;
};

const deletedAtOnce = 1_000;

export const people = defineFeature({
  name: 'people',
  apiTags: {
    People: 'Accounts of people in an organization: roles, invitations, sessions.',
  },
  areas: { people: 'people', sessions: 'people' },
  settings: {
    sessionIdleMs: setting({
      env: 'REELFEED_SESSION_IDLE',
      parse: duration({ min: '1m' }),
      fallback: '12h',
      about: 'Idle timeout of sessions.',
    }),
    sessionMaxMs: setting({
      env: 'REELFEED_SESSION_MAX',
      parse: duration({ min: '1m' }),
      fallback: '30d',
      about: 'Maximum lifetime of a session, regardless of use.',
    }),
    signInLimit: setting({
      env: 'REELFEED_SIGN_IN_LIMIT',
      parse: integer({ min: 1, max: 1_000_000 }),
      fallback: '60',
      about:
        'Sign-in attempts allowed from one address in 15 minutes across all processes, and as many attempts to use a link or to request a new password. An account is limited to ten.',
      reloads: true,
    }),
    keySignIn: setting({
      env: 'REELFEED_CONSOLE_KEY_SIGN_IN',
      parse: choice(['setup', 'always']),
      fallback: 'setup',
      about:
        'Whether secret keys can sign in to the console: `setup`, until the organization has its first owner, or `always`.',
    }),
    ...singleSignOnSettings,
  },
  errors: peopleErrors,
  tables: [
    'person_identity',
    'single_sign_on_start',
    'person',
    'membership',
    'invitation',
    'person_session',
    'password_reset',
    'passkey',
    'passkey_ceremony',
    'attempt',
  ],
  extensions: [extend(auditedResources, { path: '/v1/people/:id', read: auditedMember })],
  build(parts: Parts, settings) {
    const { sessionIdleMs, sessionMaxMs, keySignIn, ...oidc } = settings;
    const { db, vault, publicUrl, sendMail: mail } = parts;
    const singleSignOn = toSingleSignOn(oidc);
    const party = relyingPartyOf(publicUrl);
    const times = { idleMs: sessionIdleMs, maxMs: sessionMaxMs };
    const sessions = createPersonSessions(db, times, publicUrl.startsWith('https:'));
    const proof = {
      db,
      vault,
      attempts: createAttempts(db, {
        get perAddress() {
          return settings.signInLimit;
        },
        perAccount,
      }),
    };
    return {
      provides: {
        personSessions: sessions,
        lowestRole,
        isKeySignInOpen: async (organizationId: OrganizationId) =>
          keySignIn === 'always' || !(await hasOwner(db, organizationId)),
      },
      routes: (app) => {
        addPeopleRoutes(app, parts);
        addInvitationRoutes(app, parts);
        addSessionRoutes(app, parts);
        const hasMail = mail !== null;
        const isClosed = singleSignOn?.isOnly === true;
        const door = { ...proof, sessions, hints: parts.hints, hasMail, singleSignOn };
        addDoorRoutes(app, { ...door, hasPasskeys: party !== null && !isClosed });
        if (party !== null) {
          addPasskeyRoutes(app, { ...proof, sessions, publicUrl, isClosed }, party);
        }
        if (singleSignOn !== null) {
          addSingleSignOnRoutes(app, { ...proof, sessions, publicUrl }, singleSignOn);
        }
        addAccountRoutes(app, proof);
      },
      jobs: mailHandlers({ db, vault, publicUrl, mail }),
      chores: [
        {
          name: 'delete expired sessions and invitations',
          intervalMs: hourMs,
          run: async (signal) => {
            await sessions.prune(signal);
            await inBatches(db, deletedAtOnce, signal, (tx) =>
              deleteOldInvitations(tx, deletedAtOnce),
            );
            await inBatches(db, deletedAtOnce, signal, (tx) =>
              deleteOldAttempts(tx, deletedAtOnce),
            );
            await inBatches(db, deletedAtOnce, signal, (tx) => deleteOldStarts(tx, deletedAtOnce));
            await inBatches(db, deletedAtOnce, signal, (tx) =>
              deleteOldCeremonies(tx, deletedAtOnce),
            );
          },
        },
      ],
    };
  },
});
