"""What TensorFlow's profiler wrote into a folder: planes, and the events in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Span(NamedTuple):
    """An event: its name, the picoseconds at which it begins and ends, its thread, what it says."""

    name: str
    begin: int
    end: int
    thread: tuple[str, int]
    said: dict[str, str]


def planes_in(folder: Path) -> list:
    """The planes of the only recording in a folder, `XPlane` of tsl/profiler/protobuf."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    [file] = folder.rglob("*.xplane.pb")
    return list(XSpace.FromString(file.read_bytes()).planes)


def spans_in(planes, wanted: tuple[str, ...] = ()) -> Iterator[Span]:
    """Every event. wanted: what to take of the texts that it says of itself, by name."""
    for plane in planes:
        names = {number: kind.name for number, kind in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                begin = 1000 * line.timestamp_ns + event.offset_ps
                said = {
                    names[stat.metadata_id]: stat.str_value or names.get(stat.ref_value, "")
                    for stat in event.stats
                    if names[stat.metadata_id] in wanted
                }
                name = plane.event_metadata[event.metadata_id].name
                yield Span(name, begin, begin + event.duration_ps, (plane.name, line.id), said)
