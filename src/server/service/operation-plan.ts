/**
 * What a site needs to know of one operation of a service, in one object. It is found by the
 * operation's name where an operation enters: at the gateway, at the binding of a site, and in a
 * log. From there it is carried along, because parts that each looked the name up could come to
 * different answers.
 */
import type { Access } from '../../correctable/operation.ts';
import type { OperationSpec } from '../../contract/contract.ts';
import { canCreateObject, type Schema } from '../../contract/schema-parts.ts';
import type { Color } from './records/effect.ts';
import type { DomainErrorFactory, ReplyCheck } from './domain-errors.ts';
import type { AnyGenerator, Service } from './service.ts';

export interface OperationPlan {
  readonly name: string;
  readonly access: Access;
  readonly isRead: boolean;
  /** The color that the contract declares, if it declares one. */
  readonly color: Color | undefined;
  /** Whether it goes to the red order whatever its generator chooses. */
  readonly isAlwaysRed: boolean;
  /**
   * Whether some path of it may be red. Then one site alone must not decide its answer, even if it
   * changes nothing.
   */
  readonly mayBeRed: boolean;
  /** Whether it shares the limit of the service's `throttled` operations. */
  readonly isThrottled: boolean;
  /** The argument that names its home partition, if it declares one. */
  readonly partitionBy: string | undefined;
  /** Its home partition, if it declares one. */
  readonly partition: string | undefined;
  readonly args: Schema;
  /** Whether the schema creates its arguments as a new object. */
  readonly hasOwnArgs: boolean;
  readonly generator: AnyGenerator;
  /** Creates the errors that its generator may throw. */
  readonly errors: DomainErrorFactory<OperationSpec>;
  readonly checkResult: ReplyCheck;
}

/** The plans of a service, by the name of the operation. */
export type OperationPlans = ReadonlyMap<string, OperationPlan>;

const plansByService = new WeakMap<Service, OperationPlans>();

/**
 * Returns the plans of a service, made at the first call. They are not part of the service itself:
 * a copy of it with another generator has other plans.
 */
export function getOperationPlans(service: Service): OperationPlans {
  let plans = plansByService.get(service);
  if (plans === undefined) plansByService.set(service, (plans = createPlans(service)));
  return plans;
}

function createPlans(service: Service): OperationPlans {
  const { contract, generators, resultChecks, domainErrors } = service;
  const plans = new Map<string, OperationPlan>();
  for (const [name, spec] of Object.entries(contract.operations)) {
    const { access, args, color, partitionBy, partition } = spec;
    plans.set(name, {
      name,
      access,
      isRead: access === 'read',
      color,
      isAlwaysRed: service.alwaysRed.has(name),
      mayBeRed: service.maybeRed.has(name),
      isThrottled: service.throttled?.operations.has(name) === true,
      partitionBy,
      partition,
      args,
      hasOwnArgs: canCreateObject(args),
      // `defineService` checks that each operation has both.
      generator: generators[name] as AnyGenerator,
      errors: domainErrors.getFactories(name),
      checkResult: resultChecks[name] as ReplyCheck,
    });
  }
  return plans;
}
