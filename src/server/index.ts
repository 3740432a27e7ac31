/** `correctables/server`: services and the sites that run them. */
export { createEmbedded } from './embedded.ts';
export type { Embedded, EmbeddedOptions } from './embedded.ts';
export { PAPER_ROUND_TRIPS_MS, oneWayDelayMs } from './wan.ts';
export type { Wan } from './wan.ts';
export { defineContract, operation } from '../protocol/contract.ts';
export type { Contract, ContractInfo, OperationSpec, OperationSpecs } from '../protocol/contract.ts';
export { keyValueOperations, queueOperations } from '../protocol/portable.ts';
export { defineService } from './redblue/service.ts';
export type { GeneratorContext, Invariants, Service, ServiceImplementation } from './redblue/service.ts';
export { blue, red } from './redblue/shadow-operation.ts';
export { withMeta } from './redblue/reply.ts';
export { cell, counter, log, queue, register, set, table } from './redblue/tables.ts';
export type { Popped, Pushed, QueueView } from './redblue/fields/queue.ts';
export { REDBLUE_LEVELS } from './redblue/site-binding.ts';
export type { RedBlueLevel, RedBlueLevels } from './redblue/site-binding.ts';
