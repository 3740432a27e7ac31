/**
 * Tests bindings and services: conformance suite, simulator, color analysis, scripted bindings,
 * virtual clocks.
 */
export { testBindingConformance, ConformanceError } from './binding-conformance.ts';
export type {
  ConformanceSubject,
  Expectation,
  HistoryStep,
  OpenedBinding,
  PausedBinding,
  TestRunner,
} from './binding-conformance.ts';
export { withPrincipal } from '../server/node/submission/with-principal.ts';
export { simulateService, ServiceCheckError } from './simulate-service.ts';
export type { SimulateServiceOptions, OperationCounts, ServiceReport } from './simulate-service.ts';
export type { Arbitraries, DrawContext } from '../server/check/values/argument-generator.ts';
export { analyzeColors } from '../server/check/analyze-colors.ts';
export type { ColorAnalysisOptions } from '../server/check/analysis-options.ts';
export type {
  CalledOperation,
  Counterexample,
  GeneratorFinding,
  ColorReport,
  ColorTable,
  ColorWarning,
  ShadowVerdict,
  Verdict,
} from '../server/check/color-report.ts';
export type { Profile, SimulationOptions } from './simulator/options.ts';
export { scriptedBinding } from './scripted-binding.ts';
export type { ScriptedBinding, ScriptedCall, ScriptedBindingOptions } from './scripted-binding.ts';
export { singleSiteService } from './single-site-service.ts';
export type { SingleSiteServiceOptions } from './single-site-service.ts';
export { virtualClock } from './virtual-clock.ts';
export type { VirtualClock } from './virtual-clock.ts';
