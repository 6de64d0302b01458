/**
 * A variant's configuration, one line per value. Weights of a ranking variant are listed
 * separately.
 */
import { Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../../texts/texts.ts';

export function Configuration({ config }: { config: object }): ReactNode {
  const values = Object.entries(config).flatMap(([name, value]: [string, unknown]) =>
    name === 'weights' && typeof value === 'object' && value !== null
      ? (Object.entries(value) as [string, unknown][])
      : [[name, value] as const],
  );
  if (values.length === 0) return <Text size="sm">{t('as it is')}</Text>;
  return values.map(([name, value]) => (
    <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
      {name} <Code>{typeof value === 'string' ? value : JSON.stringify(value)}</Code>
    </Text>
  ));
}
