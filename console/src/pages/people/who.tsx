/** In the header: which organization this is, who is signed in, and the way to the others. */
import { Anchor, Group, NativeSelect, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { askAccount } from '../../api.ts';
import { tellOtherTabs } from '../../session.ts';
import { useOwnAccount } from './own-account.ts';
import { t } from '../../texts/texts.ts';

export function Who({ organization }: { organization: string }): ReactNode {
  const account = useOwnAccount().data ?? null;
  const others = account?.organizations ?? [];
  return (
    <Group gap="xs" wrap="nowrap">
      {account !== null && others.length > 1 ? (
        <NativeSelect
          size="xs"
          aria-label={t('Organization')}
          value={account.organizationId}
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => void switchTo(event.currentTarget.value)}
        />
      ) : (
        <Text size="sm" c="dimmed" truncate maw={{ base: 120, sm: 220 }}>
          {organization}
        </Text>
      )}
      {account !== null && (
        <Anchor href="#/account" size="sm" truncate maw={140}>
          {account.name}
        </Anchor>
      )}
    </Group>
  );
}

/** Nothing of the organization before may stay, neither in view nor in memory, in any tab. */
async function switchTo(organizationId: string): Promise<void> {
  await askAccount('POST', '/organization', { organizationId });
  tellOtherTabs('begun');
  window.location.reload();
}
