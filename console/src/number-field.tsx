/** A field for a number that has to be there, which never changes what is being typed. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState, type ReactNode } from 'react';

type Parts = Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur' | 'defaultValue'> & {
  value: number;
  onChange: (value: number) => void;
};

/** While the field is empty, the value stays what it was, and is shown again once the field is left. */
export function NumberField({ value, onChange, ...rest }: Parts): ReactNode {
  // What stands in the field: `0.` on the way to `0.5` is a number already, and so would lose its point.
  const [typed, setTyped] = useState<number | string | null>(null);
  return (
    <NumberInput
      {...rest}
      value={typed ?? value}
      onChange={(next) => {
        setTyped(next);
        if (next !== '' && Number.isFinite(Number(next))) onChange(Number(next));
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
