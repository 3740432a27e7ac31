/**
 * Computes the size of a message. The message is not encoded, so that the comparison does not
 * depend on a codec. A number or an id takes 8 bytes, as in the paper, and a text one byte for each
 * letter. Names of fields and frames take no bytes.
 */

export interface MessageSize {
  readonly numbers: number;
  readonly letters: number;
  /** The number of read ids. They are included in `numbers`. */
  readonly ids: number;
}

const BYTES_OF_NUMBER = 8;

export function measureMessage(message: object): MessageSize {
  const size = { numbers: 0, letters: 0 };
  addSize(message, size);
  const { readers } = message as { readonly readers?: readonly number[] };
  return { ...size, ids: readers?.length ?? 0 };
}

export function countBytes({ numbers, letters }: MessageSize): number {
  return BYTES_OF_NUMBER * numbers + letters;
}

function addSize(value: unknown, size: { numbers: number; letters: number }): void {
  if (typeof value === 'number') size.numbers += 1;
  else if (typeof value === 'string') size.letters += value.length;
  else if (typeof value === 'boolean') size.letters += 1;
  else if (Array.isArray(value)) addList(value, size);
  else if (typeof value === 'object' && value !== null)
    for (const name in value) addSize(value[name as never], size);
}

function addList(list: readonly unknown[], size: { numbers: number; letters: number }): void {
  if (typeof list[0] === 'number') size.numbers += list.length;
  else for (const item of list) addSize(item, size);
}
