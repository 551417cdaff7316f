//! The six rules of RDFS in differential-dataflow, with a dictionary of terms, on N-Triples.
//!
//! Arguments: the number of single changes to measure, then files; changes are made in the last one. Prints one line of JSON, with
//! CPU seconds, as other processes may disturb.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::rc::Rc;

use differential_dataflow::input::InputSession;
use differential_dataflow::operators::Iterate;
use timely::dataflow::operators::probe::Handle;

/// A property with the subject and the value of a triple.
type Row = (u32, (u32, u32));

const RDF: &str = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const RDFS: &str = "<http://www.w3.org/2000/01/rdf-schema#";

/// Numbers for terms.
#[derive(Default)]
struct Dictionary {
    numbers: HashMap<String, u32>,
}

impl Dictionary {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(text.to_owned(), next);
        next
    }
}

fn read(path: &str, dictionary: &mut Dictionary, rows: &mut Vec<Row>) {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).expect("a file"));
    let mut line = String::new();
    while file.read_line(&mut line).expect("UTF-8") > 0 {
        let text = line.trim_end();
        if !text.is_empty() && !text.starts_with('#') {
            let mut parts = text.splitn(3, ' ');
            let subject = dictionary.number(parts.next().expect("a subject"));
            let property = dictionary.number(parts.next().expect("a property"));
            let value = parts.next().expect("a value").trim_end_matches('.').trim_end();
            rows.push((property, (subject, dictionary.number(value))));
        }
        line.clear();
    }
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Return the CPU seconds of this thread so far.
fn cpu() -> f64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = [0; 2];
    assert_eq!(unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    time[0] as f64 + time[1] as f64 / 1e9
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(|a, b| a.partial_cmp(b).unwrap());
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let changes: usize = arguments[0].parse().expect("the number of changes");
    let begin = cpu();
    let mut dictionary = Dictionary::default();
    let kind = dictionary.number(RDF);
    let [sub_class, sub_property, domain, range] =
        ["subClassOf>", "subPropertyOf>", "domain>", "range>"].map(|name| dictionary.number(&format!("{RDFS}{name}")));
    let mut rows = Vec::new();
    let mut first = 0;
    for path in &arguments[1..] {
        first = rows.len();
        read(path, &mut dictionary, &mut rows);
    }
    drop(dictionary);
    let load = cpu() - begin;
    timely::execute_directly(move |worker| {
        let mut input = InputSession::<u32, Row, isize>::new();
        let probe = Handle::new();
        let facts = Rc::new(Cell::new(0isize));
        let counted = facts.clone();
        worker.dataflow(|scope| {
            let triples = input.to_collection(scope);
            let told = triples.clone();
            let pairs_of = move |property: u32| told.clone().filter(move |row| row.0 == property).map(|row| row.1);
            let closure = |property: u32| {
                let told = pairs_of(property);
                told.clone().iterate(|inner, paths| {
                    let told = told.enter(inner);
                    let backward = paths.map(|(from, to)| (to, from));
                    backward.join_map(told.clone(), |_, from, to| (*from, *to)).concat(told).distinct()
                })
            };
            let properties = closure(sub_property);
            let by_property = triples.arrange_by_key();
            let wider = by_property.clone().join_core(properties.clone().arrange_by_key(), |_, ends, property| Some((*property, *ends)));
            let all = by_property.as_collection(|property, ends| (*property, *ends)).concat(wider).distinct();
            let by_property = all.clone().arrange_by_key();
            let of_subjects = by_property.clone().join_core(pairs_of(domain).arrange_by_key(), |_, ends, class| Some((*class, ends.0)));
            let of_values = by_property.join_core(pairs_of(range).arrange_by_key(), |_, ends, class| Some((*class, ends.1)));
            let told = all.clone().filter(move |row| row.0 == kind).map(|(_, (member, class))| (class, member));
            let direct = told.concat(of_subjects).concat(of_values).distinct();
            let classes = closure(sub_class);
            let inherited = direct.clone().join_map(classes.clone(), |_, member, class| (*class, *member));
            let types = direct.concat(inherited).distinct().map(move |(class, member)| (kind, (member, class)));
            let classes = classes.map(move |ends| (sub_class, ends));
            let properties = properties.map(move |ends| (sub_property, ends));
            let others = all.filter(move |row| row.0 != kind && row.0 != sub_class && row.0 != sub_property);
            let whole = types.concat(classes).concat(properties).concat(others);
            whole.inspect(move |change| counted.set(counted.get() + change.2)).probe_with(&probe);
        });
        let mut time = 0;
        let mut step = |input: &mut InputSession<u32, Row, isize>| {
            let begin = cpu();
            time += 1;
            input.advance_to(time);
            input.flush();
            worker.step_while(|| probe.less_than(input.time()));
            cpu() - begin
        };
        for row in &rows {
            input.insert(*row);
        }
        let materialise = step(&mut input);
        let derived = facts.get();
        let data = &rows[first..];
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % data.len()
        };
        let mut measured = |size: usize, times: usize| {
            let (mut removed, mut added) = (Vec::new(), Vec::new());
            for _ in 0..times {
                let mut chosen: Vec<Row> = (0..size).map(|_| data[random()]).collect();
                chosen.sort_unstable();
                chosen.dedup();
                chosen.iter().for_each(|row| input.remove(*row));
                removed.push(step(&mut input));
                chosen.iter().for_each(|row| input.insert(*row));
                added.push(step(&mut input));
            }
            (median(&mut removed), median(&mut added))
        };
        let single = measured(1, changes);
        let hundredth = measured(data.len() / 100, changes.min(5));
        println!(
            "{{\"load\": {load}, \"materialise\": {materialise}, \"facts\": {derived}, \"remove\": {}, \"add\": {}, \"remove_hundredth\": {}, \"add_hundredth\": {}, \"intact\": {}}}",
            single.0, single.1, hundredth.0, hundredth.1, facts.get() == derived
        );
    });
}
