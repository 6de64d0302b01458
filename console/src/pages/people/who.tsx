/** In the header: the organization, the signed-in person, and a switch to other organizations. */
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

/**
 * Nothing of the previous organization may remain in any tab, neither on the page nor in memory.
 */
async function switchTo(organizationId: string): Promise<void> {
  await askAccount('POST', '/organization', { organizationId });
  tellOtherTabs('begun');
  window.location.reload();
}
