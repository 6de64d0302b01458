/** The account's passkeys, and signing in with one. */
import {
  Button,
  Group,
  Modal,
  PasswordInput,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { useChange } from '../../data.ts';
import { formPassword, formText } from '../../form-text.ts';
import { moment } from '../../format.ts';
import { hasPasskeys, makePasskey, signByPasskey } from '../../passkeys.ts';
import { sessionBegun, tellOtherTabs } from '../../session.ts';
import { Failed, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';
import type { Door } from './account-form.tsx';
import type { OwnAccount } from './own-account.ts';

type Passkey = { id: string; name: string; createdAt: string; lastUsedAt: string | null };
type Proof = { password: string; code?: string };

/** The browser's own message about a closed dialog is for developers. */
function readable(error: Error | null): Error | null {
  return error instanceof DOMException
    ? new Error(t('The browser did not use a passkey: the dialog was closed or timed out.'))
    : error;
}

/** `signedIn` is awaited before continuing. */
export function PasskeyButton({ signedIn }: { signedIn: () => Promise<void> }): ReactNode {
  const signIn = useMutation({
    mutationFn: async () => {
      const options = await askAccount<PublicKeyCredentialRequestOptionsJSON>(
        'POST',
        '/passkey/start',
      );
      await askAccount('POST', '/passkey', { credential: await signByPasskey(options) });
      tellOtherTabs('begun');
      await signedIn();
      sessionBegun();
    },
  });
  if (!hasPasskeys()) return null;
  return (
    <>
      <Failed error={readable(signIn.error)} />
      <Button variant="default" loading={signIn.isPending} onClick={() => signIn.mutate()}>
        {t('Sign in with a passkey')}
      </Button>
    </>
  );
}

export function Passkeys({ account }: { account: OwnAccount }): ReactNode {
  const door = useQuery({
    queryKey: ['door'],
    queryFn: () => askAccount<Door>('GET', '/door'),
    retry: false,
  });
  if (door.data?.hasPasskeys !== true) return null;
  return (
    <Stack role="region" aria-label={t('Passkeys')}>
      <Title order={2} size="h4">
        {t('Passkeys')}
      </Title>
      <Text size="sm" maw={560}>
        {t(
          'A passkey signs you in without a password: your device stores it, and asks for your fingerprint, face or PIN. It counts as two factors.',
        )}
      </Text>
      <List account={account} />
      {hasPasskeys() ? (
        <NewPasskey account={account} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('This browser is too old for passkeys.')}
        </Text>
      )}
    </Stack>
  );
}

function List({ account }: { account: OwnAccount }): ReactNode {
  const passkeys = useQuery({
    queryKey: ['/console/account/passkeys'],
    queryFn: () => askAccount<readonly Passkey[]>('GET', '/passkeys'),
  });
  const [removed, setRemoved] = useState<Passkey | null>(null);
  return (
    <Show of={passkeys}>
      {(data) =>
        data.length > 0 && (
          <Table.ScrollContainer minWidth={480}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('Name')}</Table.Th>
                  <Table.Th>{t('Created')}</Table.Th>
                  <Table.Th>{t('Last used')}</Table.Th>
                  <Table.Th>{t('Action')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.map((passkey) => (
                  <Table.Tr key={passkey.id}>
                    <Table.Td>{passkey.name}</Table.Td>
                    <Table.Td>{moment(passkey.createdAt)}</Table.Td>
                    <Table.Td>
                      {passkey.lastUsedAt === null ? '–' : moment(passkey.lastUsedAt)}
                    </Table.Td>
                    <Table.Td>
                      <Button
                        variant="subtle"
                        color="red"
                        size="compact-sm"
                        onClick={() => setRemoved(passkey)}
                      >
                        {t('Remove')}
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
            {removed !== null && (
              <Removal account={account} passkey={removed} onDone={() => setRemoved(null)} />
            )}
          </Table.ScrollContainer>
        )
      }
    </Show>
  );
}

function Removal({
  account,
  passkey: { id, name },
  onDone,
}: {
  account: OwnAccount;
  passkey: Passkey;
  onDone: () => void;
}): ReactNode {
  const remove = useChange(async (proof: Proof) => {
    await askAccount('DELETE', `/passkeys/${id}`, proof);
    onDone();
  });
  return (
    <Modal opened onClose={onDone} title={t('Remove the passkey “{name}”?', { name })}>
      <form
        onSubmit={(event: FormEvent<HTMLFormElement>) => {
          event.preventDefault();
          remove.mutate(proofOf(event.currentTarget));
        }}
      >
        <Stack>
          <Text size="sm">
            {t('It can no longer be used to sign in. The device itself may still show it.')}
          </Text>
          <ProofFields account={account} />
          <Failed error={remove.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onDone}>
              {t('Cancel')}
            </Button>
            <Button type="submit" color="red" loading={remove.isPending}>
              {t('Remove')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function NewPasskey({ account }: { account: OwnAccount }): ReactNode {
  const add = useChange(async ({ form, name }: { form: HTMLFormElement; name: string }) => {
    const options = await askAccount<PublicKeyCredentialCreationOptionsJSON>(
      'POST',
      '/passkeys/start',
      proofOf(form),
    );
    const credential = await makePasskey(options);
    await askAccount('POST', '/passkeys', { name, credential });
    form.reset();
  });
  return (
    <form
      aria-label={t('New passkey')}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        const form = event.currentTarget;
        add.mutate({ form, name: formText(form, 'passkeyName') });
      }}
    >
      <Stack maw={420}>
        <TextInput
          name="passkeyName"
          label={t('Name of the passkey')}
          placeholder={t('Such as the device that stores it')}
          required
          maxLength={100}
        />
        <ProofFields account={account} />
        <Failed error={readable(add.error)} />
        <Button type="submit" variant="default" loading={add.isPending}>
          {t('Add a passkey')}
        </Button>
      </Stack>
    </form>
  );
}

function ProofFields({ account }: { account: OwnAccount }): ReactNode {
  return (
    <>
      <PasswordInput
        name="proof"
        label={t('Your password')}
        autoComplete="current-password"
        required
      />
      {account.hasSecondFactor && (
        <TextInput name="proofCode" label={t('Code')} autoComplete="one-time-code" required />
      )}
    </>
  );
}

function proofOf(form: HTMLFormElement): Proof {
  const code = formText(form, 'proofCode');
  return { password: formPassword(form, 'proof'), ...(code !== '' && { code }) };
}
