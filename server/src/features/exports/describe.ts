/** Describes the datasets and their columns, for the guide. */
import { datasetReaders } from './datasets/datasets.ts';
import { datasets } from './tables.ts';

export function describeDatasets(): string {
  const parts = datasets.map((dataset) => {
    const { about, filters, columns } = datasetReaders[dataset];
    const filtered =
      filters.length === 0
        ? 'This dataset has no filters.'
        : `Filters: ${filters.map(code).join(', ')}.`;
    return [
      `### ${dataset}`,
      '',
      `${about} ${filtered}`,
      '',
      '| Column | Type | |',
      '|---|---|---|',
      ...columns.map(({ name, type, about: text }) => `| \`${name}\` | ${type} | ${text} |`),
      '',
    ].join('\n');
  });
  return `\n${parts.join('\n')}`;
}

function code(name: string): string {
  return `\`${name}\``;
}
