/** The columns of the matrix, in the order of the page. Add a store here, and its tests in `test/engines/faults`. */
import { cassandra } from './cassandra.ts';
import type { Column } from '../support/faults.ts';
import { valkey } from './valkey.ts';

export const COLUMNS: Readonly<Record<string, Column>> = { valkey, cassandra };
