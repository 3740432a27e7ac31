/**
 * What is too large for a message between sites is refused when it is submitted, with the part that
 * is, and the bound.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../../../src/index.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import { get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded, type Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { checkOperationSize } from '../../../../../src/server/service/generator/generator-budget.ts';
import type { GeneratorOutcome } from '../../../../../src/server/service/generator/generator-runner.ts';
import {
  MAX_CLIENT_LENGTH,
  MAX_OPERATION_BYTES,
} from '../../../../../src/server/service/records/retention-limits.ts';
import { notesService } from '../../node/storage/notes-service.ts';

const deployments: Embedded[] = [];
afterEach(async () => {
  for (const deployment of deployments.splice(0)) await deployment.close();
});

function clientOf(): Client<RedBlueLevels> {
  // To copy much takes a busy machine longer than generators usually have.
  const deployment = createEmbedded(notesService(), {
    sites: ['ireland', 'frankfurt'],
    generators: { timeoutMs: 60_000 },
  });
  deployments.push(deployment);
  return createClient(deployment.site('ireland'));
}

const tooLarge = (field: string): unknown =>
  expect.objectContaining({
    code: 'INVALID_VALUE',
    field,
    message: expect.stringContaining(`an operation may come to ${MAX_OPERATION_BYTES} bytes`),
  });

describe('a write that is larger than any may be', () => {
  const bytes = new Uint8Array(MAX_OPERATION_BYTES);

  test('is refused, and nothing is done; the site goes on', async () => {
    const client = clientOf();
    await expect(client.invokeStrong(put('k', bytes))).rejects.toThrow(tooLarge('effects'));
    expect(await client.invokeWeak(get('k'))).toBeUndefined();
    await client.invokeStrong(put('k', 1));
    expect(await client.invokeWeak(get('k'))).toBe(1);
  });
});

describe('what counts', () => {
  const text = 'x'.repeat(1000);
  const effect = { table: 't', key: 'k', field: 'f', action: 'write', value: null };
  const reads = { names: new Set<string>(), ranges: [] };
  const outcome = (value: Partial<GeneratorOutcome>): GeneratorOutcome => ({
    reads,
    choice: undefined,
    reply: { value: null },
    ...value,
  });
  const choice = (color: 'blue' | 'red', value: object = {}): GeneratorOutcome['choice'] => ({
    shadow: 's',
    color,
    args: null,
    effects: [],
    reply: null,
    ...value,
  });

  test.each<[string, GeneratorOutcome]>([
    ['effects', outcome({ choice: choice('blue', { effects: [{ ...effect, value: text }] }) })],
    ['effects', outcome({ choice: choice('red', { effects: [{ ...effect, key: text }] }) })],
    ['reads', outcome({ choice: choice('red'), reads: { names: new Set([text]), ranges: [] } })],
    ['result', outcome({ reply: { value: { text } } })],
    [
      'result',
      outcome({ reply: { value: null, meta: { list: Array.from({ length: 40 }, () => 0) } } }),
    ],
    ['shadow', outcome({ choice: choice('red', { args: [text] }) })],
    ['result', outcome({ reply: { value: 2n ** 8000n } })],
  ])('%s: counted, and named if it is too large', (field, value) => {
    expect(() => checkOperationSize(value, { maxBytes: 1000, maxParts: 2 })).toThrow(
      expect.objectContaining({ code: 'INVALID_VALUE', field }),
    );
    expect(() => checkOperationSize(value, { maxBytes: 5000, maxParts: 2 })).not.toThrow();
  });

  test('a red operation that has read more items than allowed → rejected with the limit; a blue one is not', () => {
    const names = new Set(['a', 'b', 'c']);
    const ranges = Array.from({ length: 3 }, () => ({ table: 't' }));
    for (const read of [
      { names, ranges: [] },
      { names: new Set<string>(), ranges },
    ]) {
      const check = (color: 'blue' | 'red', maxParts: number) => () =>
        checkOperationSize(outcome({ choice: choice(color), reads: read }), {
          maxBytes: 5000,
          maxParts,
        });
      const refused = {
        code: 'INVALID_VALUE',
        field: 'reads',
        message: expect.stringContaining('may have read 2 '),
      };
      expect(check('red', 2)).toThrow(expect.objectContaining(refused));
      expect(check('red', 3)).not.toThrow();
      expect(check('blue', 2)).not.toThrow();
    }
  });

  test('what a blue operation has read goes nowhere', () => {
    const value = outcome({
      choice: choice('blue', { args: text }),
      reads: { names: new Set([text]), ranges: [] },
    });
    expect(() => checkOperationSize(value, { maxBytes: 1000, maxParts: 2 })).not.toThrow();
  });
});

test('a name that is longer than any may be → refused with the field and the bound', async () => {
  const deployment = createEmbedded(notesService(), { sites: ['ireland'] });
  deployments.push(deployment);
  const failed: unknown[] = [];
  const sink = { view: () => {}, fail: (error: unknown) => void failed.push(error) };
  const context = {
    signal: new AbortController().signal,
    operationId: 'x'.repeat(MAX_CLIENT_LENGTH + 1),
  };
  deployment
    .site('ireland')
    .submitOperation(put('k', 1), ['causal'], sink as never, context as never);
  expect(failed).toEqual([
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'context.operationId',
      message: expect.stringContaining(String(MAX_CLIENT_LENGTH)),
    }),
  ]);
});
