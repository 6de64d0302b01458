/** The signed-in person's account. */
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { askAccount } from '../../api.ts';

export type OwnAccount = {
  id: string;
  email: string;
  name: string;
  role: string;
  organizationId: string;
  hasPassword: boolean;
  hasSecondFactor: boolean;
  organizations: readonly { id: string; name: string; role: string }[];
};

/** Null if the console is signed in with a secret key. */
export function useOwnAccount(): UseQueryResult<OwnAccount | null> {
  return useQuery({
    queryKey: ['/console/account'],
    queryFn: () => askAccount<OwnAccount | null>('GET', ''),
  });
}
