"""The names of the library and their types. `__init__.py` reads the module of each name here, line by line."""

from core.book import Book, BookMove
from core.errors import BadDataError, FailedError, UsageError, UserError
from core.evaluation import BatchEvaluator, PositionBatch
from core.position import IllegalMoveError, Outcome, Position
from core.records.formats import read_games, read_trees, write_games
from core.records.record import Ending
from core.records.record import GameRecord as Record
from core.records.tree import GameTree, Node
from core.rules import BLACK, NO_CELL, WHITE, Rules, Variant
from curriculum.arena.players import PlayerSettings, open_engine, open_player
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import play_match
from curriculum.config import Config
from curriculum.phases.all import train
from curriculum.presets import resolve as load_config
from curriculum.run.folder import RunFolder as Run
from curriculum.run.folder import read_metrics
from gomoku_cli.study.game import analyses_of, record_game
from nets.checkpoint import load_model
from nets.runtimes.loading import open_model
from search.analysis import Analysis, MoveAnalysis
from search.engine import Engine
from search.limit import Limit
from search.players import Decision, ForfeitError, FunctionPlayer, Player
from search.running import RunningSearch
from search.tree.player import MctsPlayer
from search.tree.settings import DecayForm, FirstPlay, Policy, SearchSettings

__all__ = ["BLACK", "NO_CELL", "WHITE", "IllegalMoveError", "Outcome", "Position", "Rules", "Variant"]
__all__ += ["Book", "BookMove", "Ending", "GameTree", "Node", "Record", "read_games", "read_trees", "write_games"]
__all__ += ["Analysis", "Engine", "Limit", "MoveAnalysis", "RunningSearch", "analyses_of", "open_engine", "record_game"]
__all__ += ["Decision", "ForfeitError", "FunctionPlayer", "MctsPlayer", "Player", "PlayerSettings", "open_player"]
__all__ += ["BatchEvaluator", "PositionBatch", "load_model", "open_model"]
__all__ += ["DecayForm", "FirstPlay", "Policy", "SearchSettings"]
__all__ += ["Config", "MatchResult", "Run", "load_config", "play_match", "read_metrics", "train"]
__all__ += ["BadDataError", "FailedError", "UsageError", "UserError"]

__version__: str

def check_packages() -> None: ...
