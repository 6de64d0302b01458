/** Announces a newer version of Reelfeed if the operator has enabled the check. */
import { Anchor, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { readUpdate } from '../api.ts';
import { t } from '../texts/texts.ts';

export function UpdateNotice(): ReactNode {
  const { data } = useQuery({
    queryKey: ['/console/update'],
    queryFn: readUpdate,
    staleTime: Infinity,
    retry: false,
  });
  if (!data) return null;
  const text = t('Reelfeed {version} is out', { version: data.version });
  return (
    <Text size="sm" p="xs" mt="auto" role="status">
      {data.notesUrl === null ? (
        text
      ) : (
        <Anchor size="sm" href={data.notesUrl} target="_blank" rel="noreferrer">
          {text}
        </Anchor>
      )}
    </Text>
  );
}
