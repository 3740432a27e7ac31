/** `correctables/contract`: what a service has in common with its clients. Runs anywhere, and connects to nothing. */
export { byContract } from '../protocol/contract/by-contract.ts';
export type { Handlers } from '../protocol/contract/by-contract.ts';
export { parseArgs } from '../protocol/contract/catalogue.ts';
export type { Catalogue, CatalogueEntry } from '../protocol/contract/catalogue.ts';
export { defineContract, operation } from '../protocol/contract/contract.ts';
export type {
  ArgsOf,
  BlueReach,
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
  ReachOf,
  ReadReach,
  RedReach,
  TypedFunctions,
} from '../protocol/contract/contract.ts';
export { isDomainError } from '../protocol/contract/contract.ts';
export type { DomainError } from '../protocol/contract/contract.ts';
export { keyValueOperations, queueOperations } from '../protocol/contract/portable.ts';
export type { InputOf, OutputOf, Schema } from '../protocol/contract/schema-parts.ts';
