/** Sharing results: as a table, and by a link that shows them to anyone who has it. */
import { Anchor, Button, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { api, readText } from '../../api.ts';
import { useChange, useRead, type Answer } from '../../data.ts';
import { moment } from '../../format.ts';
import { Copy } from '../../page.tsx';
import { Failed, Show } from '../../states.tsx';
import { NumberField } from '../../number-field.tsx';
import { t } from '../../texts/texts.ts';

export function Sharing({ id }: { id: string }): ReactNode {
  const [days, setDays] = useState(30);
  const create = useChange(() =>
    api.post('/v1/experiments/{id}/shares', { path: { id }, body: { expiresInDays: days } }),
  );
  const download = useChange(() => saveCsv(id));
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t('Share the results')}
      </Title>
      <Group align="flex-end">
        <Button variant="default" loading={download.isPending} onClick={() => download.mutate()}>
          {t('Download CSV')}
        </Button>
        <NumberField
          label={t('Link works for')}
          suffix=" days"
          min={1}
          max={365}
          w={140}
          value={days}
          onChange={setDays}
        />
        <Button variant="default" loading={create.isPending} onClick={() => create.mutate()}>
          {t('Create link')}
        </Button>
      </Group>
      <Failed error={download.error ?? create.error} />
      <LinksOf id={id} />
    </Stack>
  );
}

function LinksOf({ id }: { id: string }): ReactNode {
  const links = useRead('/v1/experiments/{id}/shares', { path: { id } });
  const revoke = useChange((shareId: string) =>
    api.delete('/v1/experiments/{id}/shares/{shareId}', { path: { id, shareId } }),
  );
  return (
    <>
      <Failed error={revoke.error} />
      <Show of={links}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm">
              {t('No links yet. Anyone with a link can read the results and nothing else.')}
            </Text>
          ) : (
            <Links links={data} onRevoke={(shareId) => revoke.mutate(shareId)} />
          )
        }
      </Show>
    </>
  );
}

type Link = Answer<'get', '/v1/experiments/{id}/shares'>['data'][number];

function Links({
  links,
  onRevoke,
}: {
  links: readonly Link[];
  onRevoke: (shareId: string) => void;
}): ReactNode {
  return (
    <Table.ScrollContainer minWidth={480}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Link')}</Table.Th>
            <Table.Th>{t('Made')}</Table.Th>
            <Table.Th>{t('Ends')}</Table.Th>
            <Table.Th>{t('Action')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {links.map((link) => (
            <Table.Tr key={link.id}>
              <Table.Td>
                <Group gap="xs">
                  <Anchor href={link.url} target="_blank" rel="noreferrer" underline="always">
                    {t('Open')}
                  </Anchor>
                  <Copy text={link.url} label={t('Copy')} />
                </Group>
              </Table.Td>
              <Table.Td>{moment(link.createdAt)}</Table.Td>
              <Table.Td>{moment(link.expiresAt)}</Table.Td>
              <Table.Td>
                <Button size="compact-sm" variant="default" onClick={() => onRevoke(link.id)}>
                  {t('Revoke')}
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

async function saveCsv(id: string): Promise<void> {
  const path = `/v1/experiments/${id}/results?segment=country&granularity=day`;
  const text = await readText(path, 'text/csv');
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = `${id}-results.csv`;
  anchor.click();
  URL.revokeObjectURL(url);
}
