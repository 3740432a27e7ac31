/** An operation as large as one may be. */
import { expect, test } from 'vitest';
import { get, put } from '../../../../../src/operations/index.ts';
import { MAX_OPERATION_BYTES } from '../../../../../src/server/service/records/retention-limits.ts';
import { Sites } from '../../site/sites.ts';
import { notesService } from '../../node/storage/notes-service.ts';

test('an operation as large as one may be → every site gets it, in an envelope of its own', () => {
  const sites = new Sites(notesService(), 2);
  sites.submit(0, put('bytes', new Uint8Array(MAX_OPERATION_BYTES - 2000)));
  sites.submit(
    0,
    put(
      'values',
      Array.from({ length: 1_400_000 }, () => null),
    ),
  );
  sites.settle();
  expect(sites.read(1, get('bytes'))).toHaveLength(MAX_OPERATION_BYTES - 2000);
  expect(sites.read(1, get('values'))).toHaveLength(1_400_000);
});
