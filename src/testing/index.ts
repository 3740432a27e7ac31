/** For those who write or test bindings and services: contract suite, simulator, bindings played by hand, clocks. */
export { bindingContract, ContractBreach } from './binding-contract.ts';
export type { ContractSubject, Expectation, HistoryStep, OpenBinding, TestRunner } from './binding-contract.ts';
export { checkService, ServiceFault } from './check-service.ts';
export type { CheckServiceOptions, OperationCounts, ServiceReport } from './check-service.ts';
export type { Arbitraries, Draw } from '../server/label/values/arguments.ts';
export { labelService } from '../server/label/label-service.ts';
export type { LabelOptions } from '../server/label/label-service.ts';
export type {
  CalledOperation,
  Counterexample,
  GeneratorNote,
  LabelReport,
  LabelTable,
  ShadowVerdict,
  Verdict,
} from '../server/label/report.ts';
export type { Profile, SimulationOptions } from './simulator/options.ts';
export { scriptedBinding } from './scripted-binding.ts';
export type { ScriptedBinding, ScriptedCall, ScriptedOptions } from './scripted-binding.ts';
export { plainService } from './plain-service.ts';
export type { PlainServiceOptions } from './plain-service.ts';
export { virtualClock } from './virtual-clock.ts';
export type { VirtualClock } from './virtual-clock.ts';
