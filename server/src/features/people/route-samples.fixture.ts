/** A successful request for each of these routes. */
import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';
import { createPerson } from '../../../test/people/people.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  let count = 0;
  const invite = async (): Promise<string> => {
    count += 1;
    const body = { email: `sample-${count}@example.com`, role: 'editor' };
    const made = await service.call('POST', '/v1/people/invitations', { body });
    return `/v1/people/invitations/${made.body.data.id}`;
  };
  const person = async (): Promise<string> => {
    // Someone else remains an owner, so that each of them can leave.
    const made = await createPerson(service, 'viewer');
    return String((await made.call('GET', '/console/account')).body.data.id);
  };
  const session = async (): Promise<string> => {
    const { body } = await service.call('GET', `/v1/sessions?personId=${await person()}`);
    return String(body.data[0].id);
  };
  return {
    createInvitation: async () => [
      '/v1/people/invitations',
      { body: { email: 'ada@example.com', role: 'editor' } },
    ],
    listInvitations: async () => {
      await invite();
      return ['/v1/people/invitations'];
    },
    deleteInvitation: async () => [await invite()],
    listPeople: async () => {
      await person();
      return ['/v1/people'];
    },
    updatePerson: async () => [`/v1/people/${await person()}`, { body: { role: 'analyst' } }],
    removePerson: async () => [`/v1/people/${await person()}`],
    listSessions: async () => {
      await person();
      return ['/v1/sessions'];
    },
    endSession: async () => [`/v1/sessions/${await session()}`],
    endSessions: async () => [`/v1/sessions?personId=${await person()}`],
  };
}
