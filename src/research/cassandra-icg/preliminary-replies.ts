import type { PreliminaryReplies } from '../../bindings/cassandra/read-strategy.ts';
import { checkOptions } from '../../correctable/errors.ts';
import { openPluginReads } from './plugin-reads.ts';

/** Options of `preliminaryReplies`. */
export interface PreliminaryRepliesOptions {
  /**
   * Whether reads fail with `UNSUPPORTED` if the coordinator does not have the plugin. Default:
   * `false`. Reads then take two requests.
   */
  readonly required?: boolean | undefined;
}

/**
 * Lets the binding to Cassandra get both views of a read with one request (Correctables, OSDI 2016,
 * §5.2). The coordinator needs the plugin, which a checkout of this package has in
 * `research/cassandra-icg`. The binding looks for it when it connects to the first contact point.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an option is unknown or has the wrong type
 * @example
 * const binding = cassandra({
 *   contactPoints: ['frankfurt:9042'],
 *   keyspace: 'shop',
 *   preliminaryReplies: preliminaryReplies(),
 * });
 * await binding.whenConnected();
 * console.log(binding.requestsPerRead); // 1 with the plugin, otherwise 2
 */
export function preliminaryReplies(options: PreliminaryRepliesOptions = {}): PreliminaryReplies {
  const { required = false } = checkOptions(options, 'required:boolean');
  return {
    isRequired: required,
    open: (driver, settings) => openPluginReads(driver, settings),
  };
}
