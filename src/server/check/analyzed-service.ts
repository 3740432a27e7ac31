/**
 * The form of a service for the analysis: its generators run as at a site, but without the declared
 * colors.
 */
import type { OperationSpec } from '../../contract/contract.ts';
import { type Color, type Effect, isRemoval } from '../service/records/effect.ts';
import { freezeFunctions } from '../../values/deep-freeze.ts';
import { ChosenShadow } from '../service/records/reply.ts';
import type { Service } from '../service/service.ts';
import type { ShadowBuilders, ShadowOperations } from '../service/shadow-operation.ts';
import { isRedOnly, type Tables } from '../service/tables.ts';

export interface AnalyzedService {
  /** The service without declared colors, so that no generator fails because of them. */
  readonly runnable: Service;
  readonly name: string;
  readonly tables: Tables;
  /** The operations that may change something, in the order of the contract. */
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  readonly shadows: readonly string[];
  /**
   * Returns the declared color of a shadow operation that this operation chooses. An operation that
   * is always red makes it red.
   */
  getDeclaredColor(shadow: string, operation: string | undefined): Color;
  /**
   * Returns why a shadow operation with these effects can only be red; `undefined` if a search has
   * to find out.
   */
  getInherentRedReason(shadow: string, effects: readonly Effect[]): string | undefined;
}

export function createAnalyzedService(service: Service): AnalyzedService {
  const { contract, tables, shadowOperations, colors, alwaysRed } = service;
  const ofEffect = (requested: OperationSpec['access']): readonly string[] =>
    Object.keys(contract.operations).filter(
      (name) => contract.operations[name]?.access === requested,
    );

  const getInherentRedReason = (shadow: string, effects: readonly Effect[]): string | undefined => {
    const effect = effects.find((item) => isRedOnly(tables, item));
    if (effect !== undefined) {
      const { table, field } = effect;
      const description = isRemoval(effect)
        ? `rows of ${table}, with all their fields`
        : `${table}.${field}`;
      return `changes ${description}, which goes by the red order alone`;
    }
    const makesReply = shadowOperations[shadow]?.reply !== undefined;
    return makesReply ? 'makes its reply when it is applied, in the red order' : undefined;
  };

  const builders = Object.entries(shadowOperations).map(([shadow, { effects: effectsOf }]) => {
    const build = (args: unknown, reply?: unknown): ChosenShadow<unknown> => {
      const effects = effectsOf(args);
      const color =
        getInherentRedReason(shadow, effects) === undefined ? (colors[shadow] ?? 'red') : 'red';
      return new ChosenShadow({ shadow, color, args, effects, reply });
    };
    return [shadow, build] as const;
  });

  return {
    name: contract.name,
    tables,
    runnable: {
      ...service,
      contract: {
        ...contract,
        operations: withoutColors(contract.operations),
      } as Service['contract'],
      shadowBuilders: freezeFunctions(
        Object.fromEntries(builders),
      ) as unknown as ShadowBuilders<ShadowOperations>,
    },
    writes: ofEffect('write'),
    reads: ofEffect('read'),
    shadows: Object.keys(shadowOperations),
    getDeclaredColor: (shadow, operation) =>
      operation !== undefined && alwaysRed.has(operation) ? 'red' : (colors[shadow] ?? 'red'),
    getInherentRedReason,
  };
}

/**
 * Removes the colors of operations: a generator would fail if its shadow operation has another
 * color.
 */
function withoutColors(
  operations: Service['contract']['operations'],
): Service['contract']['operations'] {
  const plain = Object.entries(operations).map(
    ([name, spec]) => [name, { ...spec, color: undefined }] as const,
  );
  return Object.fromEntries(plain);
}
