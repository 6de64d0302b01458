/** Accounts of a service under test, and requests with their sessions. */
import type { Role } from '../../src/platform/http/roles.ts';
import { send, type Call, type Reply, type TestService } from '../service.ts';

export const password = 'four random words here';

export type TestPerson = {
  email: string;
  cookie: string;
  /** Sends a request as the console does for this person. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
};

const consoleHeader = { 'x-reelfeed-console': '1' };

/** An unauthenticated request from the console's page. */
export function atDoor(service: TestService, path: string, body: object): Promise<Reply> {
  return send(`${service.url}/console/account/${path}`, 'POST', { headers: consoleHeader, body });
}

/** The cookie that a response sets, formatted for a request. */
export function cookieOf({ headers }: Reply): string {
  const cookies = headers.getSetCookie();
  const found = cookies.find((cookie) => cookie.startsWith('reelfeed_session='));
  return found?.split(';')[0] ?? '';
}

/** A person identified by a session cookie. */
export function personBy(service: TestService, email: string, cookie: string): TestPerson {
  return {
    email,
    cookie,
    call: (method, path, call = {}) =>
      send(service.url + path, method, {
        ...call,
        headers: { ...consoleHeader, cookie, ...call.headers },
      }),
  };
}

/** Invites an address with the key. Returns the link's token. */
export async function inviteBy(
  service: TestService,
  email: string,
  role: Role,
  key = service.secretKey,
): Promise<string> {
  const { body } = await service.call('POST', '/v1/people/invitations', {
    key,
    body: { email, role },
  });
  return String(body.data.url).split('/').at(-1) ?? '';
}

let count = 0;

/** Creates a signed-in account with a role in the key's organization. */
export async function createPerson(
  service: TestService,
  role: Role,
  key = service.secretKey,
): Promise<TestPerson> {
  count += 1;
  const email = `${role}-${count}@example.com`;
  const token = await inviteBy(service, email, role, key);
  const accepted = await atDoor(service, 'accept', { token, name: `The ${role}`, password });
  return personBy(service, email, cookieOf(accepted));
}
