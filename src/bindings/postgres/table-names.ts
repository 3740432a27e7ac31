/** The names of what `migrations` creates, quoted. */
import { check } from '../../correctable/errors.ts';

const NAME = /^[A-Za-z_]\w{0,62}$/;

export interface TableNames {
  readonly values: string;
  readonly queues: string;
  readonly keys: string;
  readonly consumers: string;
  /** The function that commits a transaction. */
  readonly commit: string;
}

/** @throws CorrectableError `INVALID_ARGUMENT` for a name that is no identifier */
export function getTableNames(schema: string = 'public'): TableNames {
  check(
    typeof schema === 'string' && NAME.test(schema),
    'schema',
    'give a name of up to 63 letters, digits and _',
  );
  return {
    values: `"${schema}".correctables_values`,
    queues: `"${schema}".correctables_queues`,
    keys: `"${schema}".correctables_idempotency_keys`,
    consumers: `"${schema}".correctables_consumers`,
    commit: `"${schema}".correctables_commit`,
  };
}
