import type { Generated } from 'kysely';
import type {
  DefaultTimestamp,
  NullableTimestamp,
  StoredTimestamp,
} from '../../platform/database/column-types.ts';
import type { Role } from '../../platform/http/roles.ts';

type PersonTable = {
  person_id: string;
  email: string;
  name: string;
  password_hash: string | null;
  totp_secret: Buffer | null;
  totp_last_step: Generated<number>;
  totp_pending: Buffer | null;
  recovery_hashes: Generated<Buffer[]>;
  created_at: DefaultTimestamp;
  signed_in_at: NullableTimestamp;
};

type MembershipTable = {
  organization_id: string;
  person_id: string;
  role: Role;
  created_at: DefaultTimestamp;
};

type InvitationTable = {
  invitation_id: string;
  organization_id: string;
  email: string;
  role: Role;
  token_hash: Buffer;
  token_sealed: Buffer;
  invited_by: string | null;
  created_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
};

type PersonSessionTable = {
  session_id: string;
  token_hash: Buffer;
  person_id: string;
  organization_id: string;
  address: string;
  user_agent: string;
  created_at: DefaultTimestamp;
  last_used_at: DefaultTimestamp;
  expires_at: StoredTimestamp;
  ends_at: StoredTimestamp;
};

type PasswordResetTable = { person_id: string; token_hash: Buffer; expires_at: StoredTimestamp };

type PersonIdentityTable = {
  issuer: string;
  subject: string;
  person_id: string;
  created_at: DefaultTimestamp;
};

type SingleSignOnStartTable = { token_hash: Buffer; expires_at: StoredTimestamp };

type PasskeyTable = {
  passkey_id: string;
  person_id: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
  transports: string[];
  name: string;
  created_at: DefaultTimestamp;
  last_used_at: NullableTimestamp;
};

type PasskeyCeremonyTable = {
  token_hash: Buffer;
  session_id: string | null;
  expires_at: StoredTimestamp;
};

type AttemptTable = { name: string; moments: Date[]; last_at: StoredTimestamp };

declare module '../../platform/database/tables.ts' {
  interface Tables {
    person: PersonTable;
    membership: MembershipTable;
    invitation: InvitationTable;
    person_session: PersonSessionTable;
    password_reset: PasswordResetTable;
    person_identity: PersonIdentityTable;
    single_sign_on_start: SingleSignOnStartTable;
    passkey: PasskeyTable;
    passkey_ceremony: PasskeyCeremonyTable;
    attempt: AttemptTable;
  }
}
