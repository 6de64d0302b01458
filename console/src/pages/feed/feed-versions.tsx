/** All versions of the weights, each of which can be restored. */
import { Button, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { api } from '../../api.ts';
import { useChange, useList, useRead } from '../../data.ts';
import { moment, words } from '../../format.ts';
import { CopyCurl } from '../../page.tsx';
import { askThen } from '../../questions.tsx';
import { Empty, Failed, More, Show } from '../../states.tsx';
import { t } from '../../texts/texts.ts';

const restoring = (version: number) => ({
  title: t('Go back to version {version}?', { version }),
  text: t('Every feed is immediately ordered by it. The current weights stay in this list.'),
  action: t('Go back to version {version}', { version }),
});

export function FeedVersions(): ReactNode {
  const versions = useList('/v1/ranking/config/versions', {});
  const current = useRead('/v1/ranking/config', {});
  const restore = useChange((version: number) =>
    api.post('/v1/ranking/config/versions/{version}/restore', {
      path: { version: String(version) },
    }),
  );
  const now = current.data?.data.version;
  return (
    <Stack>
      <Failed error={restore.error} />
      <Show of={versions}>
        {(data) =>
          data.length === 0 ? (
            <Empty>
              {t('The weights are the defaults. Each save under “Weights” creates a version.')}
            </Empty>
          ) : (
            <Table.ScrollContainer minWidth={720}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t('Version')}</Table.Th>
                    <Table.Th>{t('When')}</Table.Th>
                    <Table.Th>{t('Weights')}</Table.Th>
                    <Table.Th>{t('Action')}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map(({ version, createdAt, config }) => (
                    <Table.Tr key={version}>
                      <Table.Td>{version}</Table.Td>
                      <Table.Td>{moment(createdAt)}</Table.Td>
                      <Table.Td>
                        {Object.entries(config.weights)
                          .map(([name, weight]) => `${words(name)} ${weight}`)
                          .join(', ')}
                      </Table.Td>
                      <Table.Td>
                        {version === now ? (
                          <Text size="sm">{t('current')}</Text>
                        ) : (
                          <Button
                            size="compact-sm"
                            variant="default"
                            onClick={() =>
                              askThen(restoring(version), () => restore.mutate(version))
                            }
                          >
                            {t('Go back to version')} {version}
                          </Button>
                        )}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Show>
      <More of={versions} />
      <Group>
        <CopyCurl path="/v1/ranking/config/versions" />
      </Group>
    </Stack>
  );
}
