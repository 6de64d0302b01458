/** Conditions on event fields: rows of field, operator and values, or JSON for anything else. */
import {
  Autocomplete,
  Button,
  CloseButton,
  Fieldset,
  Group,
  Select,
  Stack,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { readJson, type Grammar, type Problem, type Read, type Row } from './condition-rules.ts';
import { t } from './texts/texts.ts';

const labels: Readonly<Record<string, string>> = {
  eq: '=',
  equals: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
  in: t('one of'),
  prefix: t('begins with'),
  exists: t('exists'),
};

const problems: Readonly<Record<Problem, string>> = {
  incomplete: t('Each condition needs a field and a value.'),
  number: t('A comparison needs a number.'),
  repeated: t('A field has the same operator twice.'),
  json: t('The conditions are not valid JSON.'),
  shape: t('The JSON does not have the form of conditions.'),
};

export const problemText = (problem: Problem): string => problems[problem];

type Parts<Value> = {
  label: string;
  description?: string;
  grammar: Grammar<Value>;
  /** Initial conditions. */
  initial: Value;
  /** Suggested field names; others may be typed. */
  fields: readonly string[];
  change: (read: Read<Value>) => void;
};

export function Conditions<Value>(parts: Parts<Value>): ReactNode {
  const { label, description, grammar, initial, fields, change } = parts;
  const [rows, setRows] = useState<readonly Row[] | null>(() => grammar.rowsOf(initial));
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const put = (next: readonly Row[]) => {
    setRows(next);
    change(grammar.read(next));
  };
  const typed = readJson(text, grammar);
  const rowsOfText = 'value' in typed ? grammar.rowsOf(typed.value) : null;
  const toJson = () => {
    const read = grammar.read(rows ?? []);
    const value = 'value' in read ? read.value : grammar.none;
    setText(JSON.stringify(value, null, 2));
    setRows(null);
    change({ value });
  };
  const write = (next: string) => {
    setText(next);
    change(readJson(next, grammar));
  };
  return (
    <Fieldset legend={label} p="sm">
      <Stack gap="xs">
        {description !== undefined && (
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        )}
        {rows === null ? (
          <Textarea
            aria-label={t('{label} as JSON', { label })}
            autosize
            minRows={3}
            value={text}
            onChange={(event) => write(event.currentTarget.value)}
          />
        ) : (
          rows.map((row, index) => (
            <RowFields
              key={String(index)}
              row={row}
              operators={grammar.operators}
              fields={fields}
              change={(next) => put(rows.with(index, next))}
              remove={() => put(rows.toSpliced(index, 1))}
            />
          ))
        )}
        {rows === null ? (
          <Button
            size="compact-sm"
            variant="subtle"
            w="fit-content"
            disabled={rowsOfText === null}
            onClick={() => rowsOfText !== null && put(rowsOfText)}
          >
            {t('As fields')}
          </Button>
        ) : (
          <RowButtons rows={rows} grammar={grammar} put={put} toJson={toJson} />
        )}
      </Stack>
    </Fieldset>
  );
}

function RowButtons<Value>({
  rows,
  grammar,
  put,
  toJson,
}: {
  rows: readonly Row[];
  grammar: Grammar<Value>;
  put: (rows: readonly Row[]) => void;
  toJson: () => void;
}): ReactNode {
  const fresh = { field: '', operator: grammar.operators[0] ?? '', values: [] };
  return (
    <Group gap="xs">
      <Button
        size="compact-sm"
        variant="default"
        disabled={rows.length >= grammar.maxRows}
        onClick={() => put([...rows, fresh])}
      >
        {t('Add condition')}
      </Button>
      <Button
        size="compact-sm"
        variant="subtle"
        // Incomplete rows would be lost.
        disabled={'problem' in grammar.read(rows)}
        onClick={toJson}
      >
        {t('As JSON')}
      </Button>
    </Group>
  );
}

function RowFields({
  row,
  operators,
  fields,
  change,
  remove,
}: {
  row: Row;
  operators: readonly string[];
  fields: readonly string[];
  change: (row: Row) => void;
  remove: () => void;
}): ReactNode {
  const { field, operator, values } = row;
  return (
    <Group gap="xs" align="flex-start" wrap="wrap">
      <Autocomplete
        aria-label={t('Field')}
        placeholder={t('Field')}
        w={{ base: '100%', xs: 170 }}
        data={[...fields]}
        value={field}
        onChange={(name) => change({ ...row, field: name })}
      />
      <Select
        aria-label={t('Operator')}
        allowDeselect={false}
        w={{ base: 130, xs: 120 }}
        data={operators.map((value) => ({ value, label: labels[value] ?? value }))}
        value={operator}
        onChange={(next) => change(withOperator(row, next ?? operator))}
      />
      <ValueField
        operator={operator}
        values={values}
        put={(next) => change({ ...row, values: next })}
      />
      <CloseButton aria-label={t('Remove the condition on {field}', { field })} onClick={remove} />
    </Group>
  );
}

/** Booleans are valid only for `exists`, other values only for other operators. */
function withOperator({ field, operator, values }: Row, next: string): Row {
  if (next === 'exists') return { field, operator: next, values: ['true'] };
  if (operator === 'exists') return { field, operator: next, values: [] };
  return { field, operator: next, values: next === 'in' ? values : values.slice(0, 1) };
}

function ValueField({
  operator,
  values,
  put,
}: {
  operator: string;
  values: readonly string[];
  put: (values: readonly string[]) => void;
}): ReactNode {
  const width = { flex: '1 1 150px', maxWidth: 260 };
  if (operator === 'exists') {
    return (
      <Select
        aria-label={t('Value')}
        allowDeselect={false}
        style={width}
        data={[
          { value: 'true', label: t('yes') },
          { value: 'false', label: t('no') },
        ]}
        value={values[0] === 'false' ? 'false' : 'true'}
        onChange={(next) => put([next ?? 'true'])}
      />
    );
  }
  if (operator === 'in') {
    return (
      <TagsInput
        aria-label={t('Values')}
        placeholder={values.length === 0 ? t('Values') : ''}
        acceptValueOnBlur
        maxTags={100}
        style={width}
        value={[...values]}
        onChange={put}
      />
    );
  }
  return (
    <TextInput
      aria-label={t('Value')}
      placeholder={t('Value')}
      style={width}
      value={values[0] ?? ''}
      onChange={(event) => put([event.currentTarget.value])}
    />
  );
}
