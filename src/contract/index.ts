/**
 * `correctables/contract`: the part of a service that its clients share. Runs anywhere, and
 * connects to nothing.
 */
export { createHandler } from '../protocol/contract/create-handler.ts';
export type {
  HandlerContext,
  HandlerOptions,
  HandlerResult,
  Handlers,
} from '../protocol/contract/create-handler.ts';
export type { ErrorFactories } from '../protocol/contract/error-factories.ts';
export { parseArgs } from '../protocol/contract/operation-registry.ts';
export type {
  OperationRegistry,
  RegisteredOperation,
} from '../protocol/contract/operation-registry.ts';
export { defineContract, operation } from '../protocol/contract/contract.ts';
export type {
  ArgsOf,
  BlueFinalLevels,
  Contract,
  ContractInfo,
  ContractResultOf,
  ErrorDataOf,
  ErrorInputOf,
  ErrorSchemas,
  OperationBuilders,
  OperationSpec,
  OperationSpecs,
  ParsedArgsOf,
  FinalLevelsOf,
  ReadFinalLevels,
  RedFinalLevels,
  TextArgument,
  TypedSpec,
} from '../protocol/contract/contract.ts';
export { isDomainError } from '../protocol/contract/contract.ts';
export type { DomainError } from '../protocol/contract/contract.ts';
export { keyValueOperations, queueOperations } from '../protocol/contract/portable-operations.ts';
export type { InputOf, OutputOf, Schema } from '../protocol/contract/schema-parts.ts';
export { keyValue } from './key-value.ts';
