// Checks by adya, which knows nothing of how the history came about, whether a history of transactions on lists is
// consistent.
//
// Takes the name of a consistency model, such as strict-serializable. Reads a history in the format of Elle from standard
// input, one JSON object a line. Prints { "verdict", "anomalies" }, where verdict is valid, invalid or unknown, and
// anomalies has lists of explanations by the kind of the anomaly.
use std::collections::BTreeMap;
use std::io::Read;
use std::process::ExitCode;

use adya::{check, History, Opts, Valid, Workload};
use serde_json::json;

fn main() -> ExitCode {
    match judge() {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("no history on standard input: {error}");
            ExitCode::from(2)
        }
    }
}

fn judge() -> Result<serde_json::Value, Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).ok_or("name a consistency model")?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let history = History::parse(&text)?;

    let options = Opts { models: vec![model], ..Opts::default() };
    let report = check(&history, Workload::ListAppend, &options);
    let verdict = match report.valid {
        Valid::True => "valid",
        Valid::False => "invalid",
        Valid::Unknown => "unknown",
    };
    let anomalies: BTreeMap<_, Vec<_>> = report
        .anomalies
        .into_iter()
        .map(|(kind, found)| (kind, found.into_iter().map(|each| each.explanation).collect()))
        .collect();
    Ok(json!({ "verdict": verdict, "anomalies": anomalies }))
}
