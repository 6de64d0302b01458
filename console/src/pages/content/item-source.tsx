/** The tracks of an item's original file, what was made of them, and warnings. */
import { Alert, Stack, Table, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Item } from '../../data.ts';
import { t } from '../../texts/texts.ts';

type Track = Item['sourceTracks'][number];

const reasons: Record<NonNullable<Track['reason']>, string> = {
  another_track: 'Not used: other tracks are',
  codec_not_supported: 'Not used: its codec is not supported',
  cover_picture: 'Not used: it is a cover',
  empty: 'Not used: it is empty',
  kind_not_kept: 'Not kept',
};

export function SourceTracks({ item }: { item: Item }): ReactNode {
  if (item.sourceTracks.length === 0 && item.warnings.length === 0) return null;
  return (
    <Stack gap="xs" role="region" aria-label={t('Uploaded file')}>
      <Title order={2} size="h4">
        {t('Uploaded file')}
      </Title>
      {item.warnings.map(({ code, message }) => (
        <Alert key={code} color="yellow" title={code} role="status">
          {message}
        </Alert>
      ))}
      <Table maw={640}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Track')}</Table.Th>
            <Table.Th>{t('Codec')}</Table.Th>
            <Table.Th>{t('Language')}</Table.Th>
            <Table.Th>{t('Length')}</Table.Th>
            <Table.Th>{t('Use')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {item.sourceTracks.map((track, index) => (
            // Tracks have no identity other than their position.
            <Table.Tr key={String(index)}>
              <Table.Td>{track.kind}</Table.Td>
              <Table.Td>{track.codec}</Table.Td>
              <Table.Td>{track.language ?? '–'}</Table.Td>
              <Table.Td>
                {track.duration === null ? '–' : `${track.duration.toFixed(1)} s`}
              </Table.Td>
              <Table.Td>{track.reason === null ? t('Used') : reasons[track.reason]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
