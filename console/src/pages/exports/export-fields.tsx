/** Dataset, format and filters, shared by exports and schedules. */
import { Button, Select, SimpleGrid, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useRead, type Schemas } from '../../data.ts';
import { formText } from '../../form-text.ts';
import { t } from '../../texts/texts.ts';

type Export = Schemas['Export'];
type Choice = Pick<Export, 'dataset' | 'format' | 'compression'>;
export type ExportChoice = Choice & { filter: Export['filter'] };

const datasets: Export['dataset'][] = [
  'events',
  'viewers',
  'content',
  'analytics',
  'experiments',
  'webhooks',
];
const formats: Export['format'][] = ['csv', 'ndjson', 'parquet'];
const compressions: Export['compression'][] = ['none', 'gzip', 'zstd'];

/** The fields to render, and a function that reads them from a form. */
export function useExportFields(): {
  fields: ReactNode;
  read: (form: HTMLFormElement) => ExportChoice;
} {
  const [choice, setChoice] = useState<Choice>({
    dataset: 'events',
    format: 'csv',
    compression: 'none',
  });
  const [isFiltered, setFiltered] = useState(false);
  const schemas = useRead('/v1/exports/schemas', {});
  const schema = schemas.data?.data.find(({ dataset }) => dataset === choice.dataset);
  const filters = schema?.filters ?? [];
  const select = <Name extends keyof Choice>(name: Name, label: string, data: Choice[Name][]) => (
    <Select
      label={label}
      data={data}
      allowDeselect={false}
      value={choice[name]}
      onChange={(value) => setChoice({ ...choice, [name]: value ?? data[0] })}
    />
  );
  const fields = (
    <>
      {select('dataset', t('What'), datasets)}
      {select('format', t('Format'), formats)}
      {select('compression', t('Compression'), compressions)}
      {filters.length > 0 && (
        <Button
          variant="default"
          w="fit-content"
          aria-expanded={isFiltered}
          onClick={() => setFiltered(!isFiltered)}
        >
          {t('Filters')}
        </Button>
      )}
      {isFiltered && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {filters.map((name) => (
            <TextInput key={name} name={`filter.${name}`} label={name} />
          ))}
        </SimpleGrid>
      )}
    </>
  );
  const read = (form: HTMLFormElement): ExportChoice => {
    const given = isFiltered ? filters : [];
    const filter = given
      .map((name) => [name, formText(form, `filter.${name}`)] as const)
      .filter(([, value]) => value !== '');
    return { ...choice, filter: Object.fromEntries(filter) };
  };
  return { fields, read };
}

/** A filter in readable form. */
export function filterText(filter: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(filter).map(([name, value]) => `${name} ${String(value)}`);
  return parts.length === 0 ? 'everything' : parts.join(', ');
}
