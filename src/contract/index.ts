/**
 * `correctables/contract`: the part of a service that its clients share. Runs anywhere, and
 * connects to nothing.
 */
export { createHandler } from './create-handler.ts';
export type { HandlerContext, HandlerOptions, HandlerResult, Handlers } from './create-handler.ts';
export type { ErrorFactories } from './error-factories.ts';
export { parseArgs } from './operation-registry.ts';
export type { OperationRegistry, RegisteredOperation } from './operation-registry.ts';
export { defineContract, operation } from './contract.ts';
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
} from './contract.ts';
export { isDomainError } from './contract.ts';
export type { DomainError } from './contract.ts';
export { keyValueOperations, queueOperations } from './portable-operations.ts';
export type { InputOf, OutputOf, Schema } from './schema-parts.ts';
export { keyValue } from './key-value.ts';
